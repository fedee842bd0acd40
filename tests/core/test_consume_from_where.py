"""RocketMQ's table of start offsets, row by row."""

from typing import Final

import pytest

from fairlead.core.positions.consume_from_where import (
    CONSUME_FROM_WHERE,
    Consumer,
    Look,
    pull_from_where,
)

LAST: Final = "CONSUME_FROM_LAST_OFFSET"
FIRST: Final = "CONSUME_FROM_FIRST_OFFSET"
TIMESTAMP: Final = "CONSUME_FROM_TIMESTAMP"
DEPRECATED: Final = sorted(CONSUME_FROM_WHERE - {LAST, FIRST, TIMESTAMP})
CONSUMERS: Final[tuple[Consumer, ...]] = ("push", "litepull")


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("name", [LAST, FIRST, TIMESTAMP])
@pytest.mark.parametrize("topic", ["orders", "%RETRY%orders"])
def test_a_stored_offset_wins_and_a_failed_look_up_starts_nothing(
    consumer: Consumer, name: str, topic: str
) -> None:
    """A stored offset is taken under every name; where reading it failed, nothing starts."""
    found = [pull_from_where(consumer, name, stored, topic) for stored in (0, 17, -2, -3)]
    assert found == [0, 17, None, None]


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_without_a_stored_offset_the_start_follows_the_name(consumer: Consumer) -> None:
    """A normal topic starts where the name says, a retry topic at 0, under TIMESTAMP at its end."""
    for name, normal, retry in (
        (LAST, Look.MAX, 0),
        (FIRST, 0, 0),
        (TIMESTAMP, Look.SEARCH, Look.MAX),
    ):
        assert pull_from_where(consumer, name, -1, "orders") == normal
        assert pull_from_where(consumer, name, -1, "%RETRY%orders") == retry


@pytest.mark.parametrize("name", DEPRECATED)
def test_deprecated_names_mean_last_offset_to_push_alone(name: str) -> None:
    """Push takes them for LAST_OFFSET; lite-pull starts nothing under them, stored or not."""
    assert len(DEPRECATED) == 3
    for stored in (5, -1, -2):
        assert pull_from_where("push", name, stored, "t") == pull_from_where(
            "push", LAST, stored, "t"
        )
        assert pull_from_where("litepull", name, stored, "t") is None


def test_an_unknown_name_is_an_error() -> None:
    """A name that RocketMQ does not have is an error."""
    with pytest.raises(KeyError):
        pull_from_where("push", "LAST_OFFSET", 1, "t")
