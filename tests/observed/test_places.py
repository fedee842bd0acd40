"""How far a group is in a queue, by what its members and bridges said."""

from typing import Any

import orjson

from fairlead.core.model import MessageQueue, Position
from fairlead.observed.positions import GroupPositions, QueuePosition
from fairlead.observed.reading import observe_group
from strategies.registry import STRATEGIES
from tests.kit.live_group import TICK_MS
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import Topics, shard_of
from tests.kit.world import World

QUEUE = MessageQueue("orders", "main", 0)
LIFE, FORMER = "life-2", "life-1"


def _progress(topics: Topics, offset: int, end: int | None, **said: Any) -> None:
    sender = {"group": "orders", "client_id": "c1"}
    sender["incarnation"] = "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11"
    entry: dict[str, Any] = {"queue": [*QUEUE], "epoch": [1, 2], "position": [0, offset], **said}
    if end is not None:
        entry["end"] = end
    record = {"kind": "progress", **sender, "queues": [entry]}
    topics.append_of("heartbeats", "orders", record)


def _measured(topics: Topics) -> GroupPositions:
    source = MemorySource(topics)
    groups = observe_group(source, "orders", STRATEGIES, TICK_MS, history_ms=60_000)
    return groups.fold("orders").positions


def test_how_long_messages_wait() -> None:
    """The oldest message has waited since the end passed the position, which is estimated."""
    topics = Topics()
    begun_ms = topics.now_ms
    for second, (offset, end) in enumerate([(100, 100), (100, 130), (100, 180), (120, 200)]):
        topics.now_ms = begun_ms + 1_000 * second
        _progress(topics, offset, end)
    place = _measured(topics).place(QUEUE, begun_ms + 10_000)
    assert (place.position, place.end, place.lag) == (Position(0, 120), 200, 80)
    assert (place.lag_ms, place.lag_at_least) == (9_334, False)


def test_a_lag_in_seconds_is_at_least_the_true_one() -> None:
    """Where the end was beyond the position all the time, messages may have waited longer."""
    topics = Topics()
    _progress(topics, 5, 100)
    place = _measured(topics).place(QUEUE, topics.now_ms + 3_000)
    assert (place.lag, place.lag_ms, place.lag_at_least) == (95, 3_000, True)


def test_at_the_end_nothing_waits() -> None:
    """A group at the end has no lag, in messages and in seconds."""
    topics = Topics()
    _progress(topics, 100, 100)
    place = _measured(topics).place(QUEUE, topics.now_ms + 3_000)
    assert (place.lag, place.lag_ms) == (0, 0)


def test_an_end_that_was_told_before_the_position() -> None:
    """How much lies beyond the position is not known then: it is not nothing."""
    topics = Topics()
    _progress(topics, 100, 152)
    _progress(topics, 1_630, None)
    place = _measured(topics).place(QUEUE, topics.now_ms)
    assert (place.position, place.end) == (Position(0, 1_630), 152)
    assert (place.end_is_older, place.lag, place.lag_ms) == (True, None, None)


def test_a_reset_of_an_operator_wins() -> None:
    """It wins over earlier reports, also where it goes back."""
    topics = Topics()
    _progress(topics, 100, 152)
    key = orjson.dumps(["orders", "reset", *QUEUE])
    reset = {"kind": "reset", "group": "orders", "queue": [*QUEUE], "offset": 7, "by": "al"}
    topics.append("control", shard_of("orders"), key, reset)
    place = _measured(topics).place(QUEUE, topics.now_ms)
    assert (place.told_by, place.lag) == ("reset", 145)
    assert place.position is not None
    assert place.position.offset == 7


def test_an_end_that_nobody_told() -> None:
    """A position alone says nothing of a lag, and a queue without any report is open."""
    topics = Topics()
    _progress(topics, 100, None)
    measured = _measured(topics)
    assert measured.place(QUEUE, topics.now_ms).lag is None
    assert measured.place(QUEUE._replace(queue_id=9), topics.now_ms) == QueuePosition()


def test_a_former_life_of_the_topic() -> None:
    """Reports about another life of the topic do not count."""
    topics = Topics()
    _progress(topics, 900, 1_000, identity=FORMER)
    _progress(topics, 3, 10, identity=LIFE)
    place = _measured(topics).place(QUEUE, topics.now_ms)
    assert (place.position, place.end) == (Position(0, 3), 10)


def test_records_of_others_and_no_records() -> None:
    """Other groups' records and what the engine refuses are passed over."""
    topics = Topics()
    topics.append_of("heartbeats", "orders", b"nonsense")
    topics.append("heartbeats", shard_of("orders"), b"others", {"kind": "leave"})
    assert _measured(topics).queues == {}


def test_of_two_equal_positions_the_release_is_named() -> None:
    """A release moves the position; of two who tell the same one, it is named."""
    world = World(queues={"orders": 1})
    client = world.join("c1")
    world.pass_seconds(5)
    client.leave()
    assert _measured(world.topics).place(QUEUE, world.topics.now_ms).told_by == "release"
