"""The words of `--to`, and which offset each means."""

import pytest

from fairlead.control.queue_place import QueuePlace
from fairlead.control.queue_resets import plan_resets
from fairlead.control.reset_target import BadTargetError, ResetTarget, read_target
from fairlead.core.model import MessageQueue, Position

QUEUE = MessageQueue("orders", "main", 0)
AT_MS = 1_781_000_000_000


@pytest.mark.parametrize(
    "text, target",
    [
        ("earliest", ResetTarget("earliest")),
        ("latest", ResetTarget("latest")),
        ("0", ResetTarget("offset", 0)),
        ("9120", ResetTarget("offset", 9120)),
        ("178100000000", ResetTarget("offset", 178_100_000_000)),
        ("1781000000000ms", ResetTarget("timestamp", AT_MS)),
        ("2026-06-09T10:13:20Z", ResetTarget("timestamp", AT_MS)),
        ("2026-06-09T12:13:20.005+02:00", ResetTarget("timestamp", AT_MS + 5)),
        ("2026-06-09 10:13:20+00:00", ResetTarget("timestamp", AT_MS)),
    ],
)
def test_a_target_is_an_end_an_offset_or_a_time(text: str, target: ResetTarget) -> None:
    """An end, an offset in digits, milliseconds with their unit, or a time with its zone."""
    assert read_target(text) == target


@pytest.mark.parametrize(
    "text, detail, remedy",
    [
        ("oldest", "is no place", "earliest, latest, an offset"),
        ("-1", "is no place", "such as 9120"),
        ("1781000000000", "looks like a time", "write 1781000000000ms"),
        ("", "is no place", "earliest"),
        ("12.5", "is no place", "such as 9120"),
        ("1781000000ms", "is no place", "1781000000000ms"),
        ("2026-06-09T10:13:20", "a time without its zone", "Z for UTC"),
        ("2026-06-09", "a time without its zone", "Z for UTC"),
        ("1999-01-01T00:00:00Z", "out of bounds", "2001 to 2286"),
        ("0000000000001ms", "out of bounds", "2001 to 2286"),
    ],
)
def test_what_is_no_target_is_refused_with_a_remedy(text: str, detail: str, remedy: str) -> None:
    """What is none of these is refused with what would do; a time is never guessed a zone."""
    with pytest.raises(BadTargetError, match=detail) as error:
        read_target(text)
    assert remedy in error.value.remedy


@pytest.mark.parametrize(
    "text, offset, ahead",
    [
        ("earliest", 10, -30),
        ("latest", 100, 60),
        ("55", 55, 15),
        ("3", 10, -30),
        ("5000", 100, 60),
        ("1781000000000ms", 70, 30),
        ("1781000000001ms", 100, 60),
    ],
)
def test_inside_the_bounds(text: str, offset: int, ahead: int) -> None:
    """An offset is brought inside the queue's bounds; a time after its last message is its end."""
    place = QueuePlace(
        QUEUE, "T", 10, 100, Position(0, 40), "committed", {AT_MS: 70, AT_MS + 1: -1}
    )
    (planned,) = plan_resets([place], read_target(text))
    assert (planned.offset, planned.ahead) == (offset, ahead)


def test_only_kept_messages_count() -> None:
    """Messages that are gone are neither skipped nor read again; no position says nothing."""
    far_behind = QueuePlace(QUEUE, "T", 10, 100, Position(0, 4), "committed")
    unknown = QueuePlace(QUEUE, "T", 10, 100)
    planned = plan_resets([far_behind, unknown], ResetTarget("offset", 15))
    assert [each.ahead for each in planned] == [5, None]
    assert [each.place.lag for each in planned] == [90, None]
