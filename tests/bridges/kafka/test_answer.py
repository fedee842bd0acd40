"""What is answered from what the look-ups gave."""

import pytest
from fairlead_client import model as words
from fairlead_client.transport.encoding import commit_metadata
from hypothesis import given
from hypothesis import strategies as st

from fairlead.bridges.kafka.answer import OffsetLookup, answer, asked_partitions
from fairlead.bridges.kafka.committed import Committed, read_committed
from fairlead.core.model import MessageQueue, Position, Route, RouteBroker
from fairlead.core.outputs import Request
from fairlead.core.records import OffsetsKnown, QueueOffsets

TIMESTAMP_MS = 1_780_999_000_000
NOTHING = Committed(-1, "")
IDENTITIES = st.sampled_from(("X", "Y")) | st.from_regex(r"[!#-\[\]-~]{1,255}", fullmatch=True)
ROUTE = Route("orders", "X", (RouteBroker("main", 6, 4, 4),))


def queue(queue_id: int, topic: str = "orders", broker_name: str = "main") -> MessageQueue:
    """A queue, of topic orders in cluster main unless said otherwise."""
    return MessageQueue(topic, broker_name, queue_id)


def request(*queues: MessageQueue, timestamp_ms: int | None = None) -> Request:
    """A request for offsets of these queues; none: of all."""
    return Request("g", "offsets", "orders", queues or None, timestamp_ms)


def test_a_request_without_queues_asks_for_every_partition() -> None:
    """A request that names no queue asks for every partition of the topic."""
    assert asked_partitions(request(), ROUTE, "main") == [0, 1, 2, 3]


def test_only_existing_partitions_of_the_topic_are_asked_for() -> None:
    """Of the queues named those of other topics, of other clusters and of no partition are left."""
    named = [queue(3), queue(1), queue(4), queue(0, broker_name="other"), queue(2, topic="stock")]
    assert asked_partitions(request(*named), ROUTE, "main") == [1, 3]
    assert asked_partitions(request(), ROUTE, "other") == []


def test_an_entry_has_its_bounds_and_the_position() -> None:
    """A queue's entry has its bounds and the group's position, null where it committed nothing."""
    lookup = OffsetLookup(
        earliest={0: 0, 1: 12},
        latest={0: 9_200, 1: 700},
        committed={0: Committed(9_100, '{"v":1,"reset":3}'), 1: NOTHING},
    )
    found = answer(request(), "X", "main", [0, 1], lookup)
    assert found.left == ()
    assert found.record == OffsetsKnown(
        "g",
        "orders",
        "X",
        (
            QueueOffsets(queue(0), 0, 9_200, Position(3, 9_100), None),
            QueueOffsets(queue(1), 12, 700, None, None),
        ),
    )


@pytest.mark.parametrize(
    "lookup",
    [
        OffsetLookup({}, {0: 5}, {0: 2}, {0: NOTHING}),
        OffsetLookup({0: 0}, {}, {0: 2}, {0: NOTHING}),
        OffsetLookup({0: 0}, {0: 5}, {}, {0: NOTHING}),
        OffsetLookup({0: 0}, {0: 5}, {0: 2}, {}),
        OffsetLookup({0: 6}, {0: 5}, {0: 2}, {0: NOTHING}),
        OffsetLookup({0: -1}, {0: 5}, {0: 2}, {0: NOTHING}),
    ],
    ids=["no earliest", "no latest", "no time", "no commit", "crossed", "negative"],
)
def test_a_queue_with_an_unknown_part_gets_no_entry(lookup: OffsetLookup) -> None:
    """A queue with one unknown part gets no entry, and stays unanswered."""
    found = answer(request(timestamp_ms=TIMESTAMP_MS), "X", "main", [0], lookup)
    assert (found.record, found.left) == (None, (queue(0),))


def test_one_failed_queue_leaves_the_others_answered() -> None:
    """One queue's failure does not cost the others their answer."""
    lookup = OffsetLookup({0: 0, 1: 0}, {0: 5}, {}, {0: NOTHING, 1: NOTHING})
    found = answer(request(), "X", "main", [0, 1], lookup)
    assert found.record is not None
    assert [entry.queue for entry in found.record.queues] == [queue(0)]
    assert found.left == (queue(1),)


@pytest.mark.parametrize(
    "found, max_offset, offset",
    [(2, 5, 2), (-1, 5, 5), (7, 8, 7)],
    ids=["inside", "none so young", "written meanwhile"],
)
def test_without_a_message_so_young_the_offset_is_the_end(
    found: int, max_offset: int, offset: int
) -> None:
    """Without a message so young the offset is the end; one beyond the end moves the end."""
    lookup = OffsetLookup({0: 0}, {0: 5}, {0: found}, {0: NOTHING})
    record = answer(request(timestamp_ms=TIMESTAMP_MS), "X", "main", [0], lookup).record
    assert record is not None
    assert record.queues == (QueueOffsets(queue(0), 0, max_offset, None, (TIMESTAMP_MS, offset)),)


@pytest.mark.parametrize(
    "metadata, reset",
    [
        ('{"v":1,"reset":7}', 7),
        ('{"v":1,"reset":0}', 0),
        ('{"v":1,"reset":7,"later":true}', 7),
        ("", 0),
        ("moved by hand", 0),
        ("[1,7]", 0),
        ('{"reset":7}', 0),
        ('{"v":2,"reset":7}', 0),
        ('{"v":1}', 0),
        ('{"v":1,"reset":-1}', 0),
        ('{"v":1,"reset":true}', 0),
        ('{"v":1,"reset":"7"}', 0),
        ('{"v":1,"reset":7.0}', 0),
        ('{"v":1,"reset":7,"identity":"X"}', 7),
        ('{"v":1,"reset":7,"identity":5}', 7),
        ('{"v":1,"reset":7,"identity":null}', 7),
        ('{"v":2,"reset":7,"identity":"Y"}', 0),
        ('{"v":1,"reset":99999999999999999999}', 0),
    ],
)
def test_a_reset_is_read_from_the_metadata_of_a_commit(metadata: str, reset: int) -> None:
    """The reset is read from a client's metadata; whatever else stands there means none."""
    assert read_committed(Committed(42, metadata), "X") == Position(reset, 42)


def test_minus_one_is_no_position() -> None:
    """Kafka's −1 is no position."""
    assert read_committed(NOTHING, "X") is None


@pytest.mark.parametrize("named", ["Y", "x", "X ", ""])
def test_committed_in_another_life(named: str) -> None:
    """What names another life of the topic than the present one is no commit there."""
    metadata = f'{{"v":1,"reset":7,"identity":"{named}"}}'
    assert read_committed(Committed(42, metadata), "X") is None


@given(
    reset=st.integers(0, 2**53),
    offset=st.integers(0, 2**63 - 1),
    identity=st.none() | IDENTITIES,
    present=IDENTITIES,
)
def test_what_a_client_commits(reset: int, offset: int, identity: str | None, present: str) -> None:
    """The bridge reads what the client's library writes: the pair, in that life or in any."""
    queue = words.Queue("orders", "main", 0)
    position = words.Position(reset, offset)
    entry = words.Progress(queue, words.Epoch(1, 1), position, None, identity)
    found = read_committed(Committed(offset, commit_metadata(entry)), present)
    assert found == (Position(reset, offset) if identity in (None, present) else None)
