"""Where a queue starts that nobody has read, under both start policies."""

from dataclasses import replace

import pytest

from fairlead.core.model import MemberProfile, MessageQueue, Position
from fairlead.core.outputs import Request
from fairlead.core.positions.first_position import first_base
from fairlead.core.records import OffsetsKnown, QueueOffsets
from fairlead.core.state import QueueState
from tests.kit.group_world import GROUP, GroupWorld, queue_of

AT_MS = 1_781_000_000_000
NORMAL, RETRY = "orders", "%RETRY%orders"
COMMITTED = Position(3, 40)


def _profile(consume_from: str) -> MemberProfile:
    timestamp_ms = AT_MS if consume_from == "timestamp" else None
    return MemberProfile(consume_from=consume_from, consume_timestamp_ms=timestamp_ms)


def _known(
    topic: str, committed: Position | None, for_time: tuple[int, int] | None = (AT_MS, 60)
) -> QueueOffsets:
    return QueueOffsets(MessageQueue(topic, "main", 0), 10, 100, committed, for_time)


@pytest.mark.parametrize(
    "consume_from, topic, late, fairlead, rocketmq",
    [
        ("last_offset", NORMAL, False, (100, "last_offset"), (100, "last_offset")),
        ("first_offset", NORMAL, False, (10, "first_offset"), (10, "first_offset")),
        ("timestamp", NORMAL, False, (60, "timestamp"), (60, "timestamp")),
        ("last_offset", RETRY, False, (10, "minimum"), (10, "minimum")),
        ("first_offset", RETRY, False, (10, "minimum"), (10, "first_offset")),
        ("timestamp", RETRY, False, (10, "minimum"), (100, "last_offset")),
        ("last_offset", NORMAL, True, (10, "minimum"), (10, "minimum")),
        ("timestamp", RETRY, True, (10, "minimum"), (10, "minimum")),
    ],
)
def test_without_a_stored_offset_each_policy_has_its_start(
    consume_from: str,
    topic: str,
    late: bool,  # noqa: FBT001 - a column of the table
    fairlead: tuple[int, str],
    rocketmq: tuple[int, str],
) -> None:
    """Each ConsumeFromWhere on a normal and a retry topic; who may have read it starts it low."""
    for policy, (offset, why) in (("fairlead", fairlead), ("rocketmq", rocketmq)):
        start = first_base(
            QueueState(late=late), _known(topic, None), _profile(consume_from), policy
        )
        assert start == (Position(0, offset), why)


@pytest.mark.parametrize("policy", ["fairlead", "rocketmq"])
@pytest.mark.parametrize("consume_from", ["last_offset", "first_offset", "timestamp"])
@pytest.mark.parametrize("topic", [NORMAL, RETRY])
@pytest.mark.parametrize("offset, start", [(40, 40), (0, 10), (7, 10), (500, 100)])
def test_a_stored_offset_wins_under_every_policy(
    policy: str, consume_from: str, topic: str, offset: int, start: int
) -> None:
    """What is stored wins under every ConsumeFromWhere, inside the bounds, with its reset."""
    known = _known(topic, COMMITTED._replace(offset=offset), None)
    found = first_base(QueueState(), known, _profile(consume_from), policy)
    assert found == (Position(3, start), "committed")


@pytest.mark.parametrize("policy", ["fairlead", "rocketmq"])
@pytest.mark.parametrize("for_time", [None, (AT_MS - 1, 60)])
def test_without_the_offset_of_its_time_a_queue_has_no_start(
    policy: str, for_time: tuple[int, int] | None
) -> None:
    """Without the offset of its time a queue has no start, neither 0 nor the end (rule H8)."""
    known = _known(NORMAL, None, for_time)
    assert first_base(QueueState(), known, _profile("timestamp"), policy) is None


def _told_by_bridge(world: GroupWorld, for_time: tuple[int, int] | None) -> None:
    known = QueueOffsets(queue_of(0), 10, 100, None, for_time)
    world.add("offsets", OffsetsKnown(GROUP, "orders", "one", (known,)))


@pytest.mark.parametrize("policy", ["fairlead", "rocketmq"])
def test_the_offset_of_a_timestamp_is_awaited(policy: str) -> None:
    """The time is asked for; an answer for none or another one leaves the queue pending."""
    world = GroupWorld()
    world.rule("start_policy", policy)
    world.beat("a", profile=_profile("timestamp"))
    world.run()
    world.route(1)
    world.run()

    def asked() -> list[int | None]:
        return [
            each.consume_timestamp_ms
            for each in world.outputs
            if isinstance(each, Request) and each.what == "offsets"
        ]

    for for_time in (None, (AT_MS + 1, 70)):
        _told_by_bridge(world, for_time)
        world.run()
        assert world.adds("a") == []
        # Nobody lapses meanwhile; what was not answered is asked for again.
        world.pass_time(9_000)
        world.beat("a", profile=_profile("timestamp"))
        world.run()
        assert asked() == [AT_MS]
    _told_by_bridge(world, (AT_MS, 60))
    world.run()
    assert [(add.position, add.why) for add in world.adds("a")] == [(Position(0, 60), "timestamp")]


@pytest.mark.parametrize(
    "policy, start", [("fairlead", (3, "minimum")), ("rocketmq", (9, "last_offset"))]
)
def test_a_queue_that_is_added(policy: str, start: tuple[int, str]) -> None:
    """A queue of a grown topic starts at its minimum, or RocketMQ's way at its end (rule H8)."""
    world = GroupWorld()
    world.rule("start_policy", policy)
    world.beat("a", profile=_profile("last_offset"))
    world.run()
    world.route(1)
    world.bounds(1, last=50)
    world.run()
    world.route(2)
    world.run()
    world.bounds(2, first=3, last=9)
    world.run()
    assert [(add.position.offset, add.why) for add in world.adds("a")] == [start]


def test_a_recreated_topic_starts_at_its_minimum() -> None:
    """Also RocketMQ's way a topic that was made again starts at its minimum, more queues or not."""
    world = GroupWorld()
    world.rule("start_policy", "rocketmq")
    world.beat("a", profile=_profile("last_offset"))
    world.run()
    world.route(1)
    world.bounds(1, last=50)
    world.run()
    held = world.epoch_of(0)
    world.route(2, identity="two")
    world.release("a", 0, held, 77)
    world.run()
    world.bounds(2, identity="two", first=0, last=5, committed=Position(0, 77))
    world.run()
    starts = [(add.queue.queue_id, add.position.offset, add.why) for add in world.adds("a")]
    assert starts == [(0, 0, "minimum"), (1, 0, "minimum")]


def test_the_policy_in_force_decides() -> None:
    """A group may be given RocketMQ's way while it runs; what is known already stays."""
    world = GroupWorld()
    world.beat("a", profile=_profile("last_offset"))
    world.run()
    world.route(1)
    world.bounds(1, last=50)
    world.run()
    world.rule("start_policy", "rocketmq")
    world.run()
    assert world.adds("a") == []
    assert world.state is not None
    assert replace(world.state.queues[queue_of(0)], chain=()).base == Position(0, 50)
    world.route(2)
    world.run()
    world.bounds(2, first=3, last=9)
    world.run()
    assert [(add.position.offset, add.why) for add in world.adds("a")] == [(9, "last_offset")]


@pytest.mark.parametrize("policy", ["fairlead", "rocketmq"])
def test_a_queue_that_its_route_hid_in_a_recovery(policy: str) -> None:
    """One that comes back after a loss may have been read, although the route was known."""
    profile, world = _profile("last_offset"), GroupWorld()
    world.lose(2)
    world.rule("start_policy", policy)
    world.beat("a", profile=profile)
    world.claims("a")
    world.run()
    world.route(1)
    for _ in range(3):
        world.pass_time(5_000)
        world.beat("a", profile=profile)
        world.run()
    world.bounds(1, first=7)
    world.run()
    world.route(2)
    world.run()
    world.bounds(2, first=7)
    world.run()
    assert [(add.queue.queue_id, add.position) for add in world.adds("a")] == [(1, Position(0, 7))]
