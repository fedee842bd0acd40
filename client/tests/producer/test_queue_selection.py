"""RocketMQ's round robin is given exactly, in each of its lines."""

import pytest
from fairlead_client.errors import SettingsError
from fairlead_client.model import Queue
from fairlead_client.produce.java_number import INT_MAX, INT_MIN
from fairlead_client.produce.queue_selection import (
    VERSIONS,
    NoQueueError,
    Version,
    probe,
    select_queue,
)
from hypothesis import given
from hypothesis import strategies as st

A1, A2, B1, B2, C1, C2 = SIX = tuple(
    Queue("T", broker, number) for broker in "ABC" for number in (1, 2)
)
INDEXES = st.one_of(
    st.integers(INT_MIN, INT_MAX), st.sampled_from([INT_MIN, INT_MIN + 1, -1, 0, INT_MAX])
)


@pytest.mark.parametrize("version", VERSIONS)
def test_failed_broker_is_passed_over(version: Version) -> None:
    """Of A1, A2, B1, B2, C1, C2 the queue after a failed A1 is B1."""
    first = select_queue(version, SIX, -1, None)
    assert first.queue == A1
    assert select_queue(version, SIX, first.index_after, "A").queue == B1


@pytest.mark.parametrize(
    "version, start, last_broker, expected",
    [
        # One shared increment however many queues are passed over, or one for each of them.
        ("4.3", 0, "A", (B1, 1)),
        ("4.9", 0, "A", (B1, 2)),
        ("5", 0, "A", (B1, 2)),
        # The index is negative: 4.3 drops the sign, the others the sign's bit.
        ("4.3", -7, None, (A1, 6)),
        ("4.9", -7, None, (SIX[2147483642 % 6], -6)),
        ("5", -7, None, (SIX[2147483642 % 6], -6)),
        # It runs over.
        ("4.3", INT_MAX, None, (A1, 0)),
        ("4.9", INT_MAX, None, (A1, INT_MIN)),
        ("5", INT_MAX, None, (A1, INT_MIN)),
        ("4.3", INT_MIN, None, (SIX[INT_MAX % 6], INT_MAX)),
        ("4.9", INT_MIN, None, (A2, INT_MIN + 1)),
        # A local probe that runs over stands at the first queue, then goes on backwards.
        ("4.3", INT_MAX - 1, "A", (C2, INT_MAX)),
    ],
)
def test_each_line_moves_its_index_on_past_the_java_int(
    version: Version, start: int, last_broker: str | None, expected: tuple[Queue, int]
) -> None:
    """Each line moves its index on in its own way, past the ends of Java's int too."""
    assert select_queue(version, SIX, start, last_broker) == expected


@pytest.mark.parametrize("version, steps", [("4.3", 2), ("4.9", 6), ("5", 6)])
def test_a_failed_broker_with_every_queue_is_taken_after_a_round(
    version: Version, steps: int
) -> None:
    """When the failed broker has every queue, one of its queues is taken after a full round."""
    five = [Queue("T", "A", number) for number in range(5)]
    assert select_queue(version, five, 4, "A") == (five[(4 + steps) % 5], 4 + steps)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("last_broker", [None, "A"])
def test_without_queues_the_index_moves_on_before_the_error(
    version: Version, last_broker: str | None
) -> None:
    """Without queues there is a named error after the index moved on, as RocketMQ divides by 0."""
    with pytest.raises(NoQueueError) as caught:
        select_queue(version, (), 3, last_broker)
    assert caught.value.index == (5 if version == "4.3" and last_broker else 4)


def test_no_queues_to_probe() -> None:
    """The form with filters finds nothing among no queues, and leaves the index alone."""
    assert probe((), 3, lambda _: True) == (None, 3)


def test_an_unknown_line_is_refused_with_those_there_are() -> None:
    """A line that there is not is refused by name, with those that there are."""
    with pytest.raises(
        SettingsError, match=r"version: '4\.8' is unknown; give one of 4\.3, 4\.9, 5"
    ):
        select_queue("4.8", SIX, 0, None)  # type: ignore[arg-type]


@given(
    version=st.sampled_from(VERSIONS),
    brokers=st.lists(st.sampled_from("ABC"), min_size=1, max_size=9),
    index=INDEXES,
    last_broker=st.sampled_from([None, "A", "B", "X"]),
)
def test_never_the_last_broker(
    version: Version, brokers: list[str], index: int, last_broker: str | None
) -> None:
    """The last broker is chosen only when it has every queue, and the index stays an int."""
    there = [Queue("T", broker, at) for at, broker in enumerate(brokers)]
    found = select_queue(version, there, index, last_broker)
    assert found.queue in there
    assert INT_MIN <= found.index_after <= INT_MAX
    if set(brokers) != {last_broker}:
        assert found.queue.broker_name != last_broker


@given(version=st.sampled_from(VERSIONS), count=st.integers(1, 12), start=st.integers(0, 10**9))
def test_each_queue_comes_once_in_a_round(version: Version, count: int, start: int) -> None:
    """Where nothing fails each queue comes once in a round."""
    there = [Queue("T", "A", at) for at in range(count)]
    index, seen = start, []
    for _ in range(count):
        found = select_queue(version, there, index, None)
        index = found.index_after
        seen.append(found.queue)
    assert sorted(seen) == there
