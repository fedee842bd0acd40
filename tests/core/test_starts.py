"""Where queues start, and what routes and subscriptions change."""

from itertools import pairwise

import pytest

from fairlead.codec.group import decode_group, encode_group
from fairlead.core.model import MemberProfile, Position
from fairlead.core.outputs import Request
from tests.kit.group_world import GROUP, GroupWorld, queue_of, settled


def test_a_new_queue_of_an_existing_group_starts_at_its_minimum() -> None:
    """Partitions that are added later lose no first message."""
    world = GroupWorld()
    world.beat("a", profile=MemberProfile(consume_from="last_offset"))
    world.run()
    world.route(1)
    world.bounds(1, last=50)
    world.run()
    assert world.adds("a")[0].position.offset == 50
    world.route(2)
    world.run()
    assert [output.what for output in world.outputs if isinstance(output, Request)] == ["offsets"]
    world.bounds(2, first=3, last=9)
    world.run()
    assert [(add.position.offset, add.why) for add in world.adds("a")] == [(3, "minimum")]


def test_a_shrunken_route_drops_its_queues() -> None:
    """A queue that is no longer readable is dropped; where it was left is kept while it is away."""
    world = settled("a")
    held = world.epoch_of(3)
    world.route(3)
    world.run()
    assert [drop.queue.queue_id for drop in world.told("a").drop] == [3]
    world.release("a", 3, held, 4)
    world.run()
    assert world.state is not None
    left = world.state.queues[queue_of(3)]
    assert (left.chain, left.base) == ((), Position(0, 4))


def test_a_topic_that_nobody_reads_is_forgotten() -> None:
    """Nothing of a queue that is away is kept when the last member gives up its topic."""
    world = settled("a")
    held = world.epoch_of(0)
    world.route(3)
    world.run()
    world.release("a", 3, held, 4)
    world.run()
    assert world.state is not None
    assert len(world.state.queues) == 4
    world.beat("a", topics=("invoices",))
    world.run()
    for number in range(3):
        world.release("a", number, held, 9)
    world.run()
    assert world.state.queues == {}


def test_a_deleted_topic_drops_and_a_recreated_one_starts_anew() -> None:
    """A topic made again under its name starts at its minimum, whatever was committed."""
    world = settled("a", queues=1)
    held = world.epoch_of(0)
    world.route(None)
    world.run()
    assert len(world.told("a").drop) == 1
    world.route(1, identity="two")
    world.release("a", 0, held, 77)
    world.run()
    world.bounds(1, identity="two", first=0, last=5, committed=Position(0, 77))
    world.run()
    assert [(add.position.offset, add.why) for add in world.adds("a")] == [(0, "minimum")]


def test_a_deleted_topic_is_asked_for_until_it_is_made_anew() -> None:
    """The group waits however late the topic is recreated; no bridge needs to remember it."""
    world = settled("a", queues=1)
    world.route(None)
    world.run()
    asked_s = []
    for second in range(1_200):
        world.pass_time(1_000)
        world.beat("a")
        world.run()
        requests = [output for output in world.outputs if isinstance(output, Request)]
        if requests:
            assert [(each.what, each.topic) for each in requests] == [("route", "orders")]
            assert world.decision.state.phase == "waiting_for_route"
            asked_s.append(second)
    assert max(later - sooner for sooner, later in pairwise(asked_s)) == 16
    assert asked_s[-1] >= 1_184
    world.route(1, identity="two")
    world.bounds(1, identity="two", first=0, last=5)
    world.run()
    assert world.decision.state.phase != "waiting_for_route"
    world.pass_time(20_000)
    world.beat("a")
    world.run()
    assert not any(
        isinstance(output, Request) and output.what == "route" for output in world.outputs
    )


def test_a_deleted_topic_that_nobody_subscribes_to_is_not_asked_for() -> None:
    """Who goes on without the topic waits for nothing."""
    world = settled("a", queues=1)
    world.route(None)
    world.beat("a", topics=("invoices",))
    world.run()
    world.route(1, "invoices")
    world.bounds(1, "invoices")
    world.run()
    world.pass_time(20_000)
    world.beat("a", topics=("invoices",))
    world.run()
    assert not any(isinstance(output, Request) for output in world.outputs)


def test_a_topic_that_changes_identity_at_once_drops_and_starts_anew() -> None:
    """A change of identity alone is enough: the holder reads a log that is gone."""
    world = settled("a", queues=1)
    held = world.epoch_of(0)
    world.route(1, identity="two")
    world.run()
    assert len(world.told("a").drop) == 1
    world.release("a", 0, held, 77)
    world.bounds(1, identity="two", first=2, last=5)
    world.run()
    assert [(add.position.offset, add.why) for add in world.adds("a")] == [(2, "minimum")]


def test_offsets_of_another_identity_are_ignored() -> None:
    """Bounds of a topic's former life never become a start."""
    world = GroupWorld()
    world.beat("a")
    world.run()
    world.route(1, identity="two")
    world.bounds(1, identity="one")
    world.run()
    assert world.adds("a") == []
    assert world.decision.state.phase == "waiting_for_offsets"


def test_unknown_bounds_are_asked_for_again_with_back_off() -> None:
    """A queue without a known start stays pending and is asked for again, never started at 0."""
    world = GroupWorld()
    world.beat("a")
    world.run()
    world.route(2)
    world.run()
    asked = 0
    for _ in range(12):
        world.pass_time(1_000)
        world.beat("a")
        world.run()
        asked += sum(isinstance(output, Request) for output in world.outputs)
    assert world.owned("a") == []
    assert 3 <= asked <= 4


def test_committed_offsets_win_over_the_consume_from_rule() -> None:
    """What the group committed in the data plane is where it goes on."""
    world = GroupWorld()
    world.beat("a")
    world.run()
    world.route(1)
    world.bounds(1, first=5, last=50, committed=Position(2, 30))
    world.run()
    assert [(add.position, add.why) for add in world.adds("a")] == [(Position(2, 30), "committed")]


def test_members_with_different_topics_share_each_topic_among_its_subscribers() -> None:
    """A member that does not subscribe a topic takes no share of it."""
    world = GroupWorld()
    world.beat("a", topics=("orders", "payments"))
    world.beat("b", topics=("orders",))
    world.publish(2, "orders", "payments")
    assert {add.queue.topic for add in world.adds("b")} == {"orders"}
    assert sum(add.queue.topic == "payments" for add in world.adds("a")) == 2


def test_unsubscribing_takes_effect_at_once() -> None:
    """A topic that nobody subscribes to any more is dropped, released and forgotten."""
    world = GroupWorld()
    world.beat("a", topics=("orders", "payments"))
    world.publish(1, "orders", "payments")
    world.beat("a", topics=("orders",))
    world.run()
    assert [drop.queue.topic for drop in world.told("a").drop] == ["payments"]


def test_positions_survive_while_the_group_is_empty() -> None:
    """The last member's progress is where the next member starts."""
    world = settled("a", queues=1)
    world.progress("a", 0, world.epoch_of(0), 61)
    world.run()
    world.pass_time(20_000)
    world.run()
    world.beat("b")
    world.run()
    assert [(add.position.offset, add.why) for add in world.adds("b")] == [(61, "progress")]


@pytest.mark.parametrize(
    "committed, start",
    [
        (Position(2, 7), (Position(2, 7), "committed")),
        (Position(0, 9), (Position(0, 9), "committed")),
        (Position(0, 1), (Position(0, 3), "committed")),
        (Position(0, 10), (Position(0, 3), "minimum")),
        (None, (Position(0, 3), "minimum")),
    ],
)
def test_a_new_queue_goes_on_where_its_group_committed(
    committed: Position | None, start: tuple[Position, str]
) -> None:
    """An older state knows fewer queues than were read; a commit beyond the end skips nothing."""
    world = GroupWorld()
    world.beat("a", profile=MemberProfile(consume_from="last_offset"))
    world.run()
    world.route(1)
    world.bounds(1, last=50)
    world.run()
    world.route(2)
    world.run()
    world.bounds(2, first=3, last=9, committed=committed)
    world.run()
    assert [(add.position, add.why) for add in world.adds("a")] == [start]


def test_a_queue_that_another_life_brings_ignores_what_was_committed() -> None:
    """A commit that names no life may be of the topic that is gone, also where it had no queue."""
    world = settled("a", queues=1)
    held = world.epoch_of(0)
    world.route(2, identity="two")
    world.release("a", 0, held, 77)
    world.run()
    world.bounds(2, identity="two", last=90, committed=Position(0, 77))
    world.run()
    starts = [(add.queue.queue_id, add.position.offset, add.why) for add in world.adds("a")]
    assert starts == [(0, 0, "minimum"), (1, 0, "minimum")]


def test_a_grown_topic_that_is_made_anew_before_its_bounds_are_told() -> None:
    """What was added to the life that is gone is another queue in the new one."""
    world = settled("a", queues=1)
    held = world.epoch_of(0)
    world.route(2)
    world.run()
    world.route(2, identity="two")
    world.release("a", 0, held, 77)
    world.run()
    world.bounds(2, identity="two", last=90, committed=Position(0, 77))
    world.run()
    starts = [(add.queue.queue_id, add.position.offset, add.why) for add in world.adds("a")]
    assert starts == [(0, 0, "minimum"), (1, 0, "minimum")]


@pytest.mark.parametrize("released", ["before", "after"])
def test_a_topic_that_is_made_anew_with_fewer_queues_and_grows(released: str) -> None:
    """Queues of a former life's numbers skip nothing, whenever its holders let them go."""
    world = settled("a", queues=4)
    held = [world.epoch_of(number) for number in range(4)]

    def release() -> None:
        for number, epoch in enumerate(held):
            world.release("a", number, epoch, 77)
        world.run()

    world.route(1, identity="two")
    world.run()
    if released == "before":
        release()
    assert world.state is not None
    world.state = decode_group(*encode_group(world.state), GROUP)
    world.route(4, identity="two")
    world.run()
    if released == "after":
        release()
    world.bounds(4, identity="two", last=90, committed=Position(0, 77))
    world.run()
    starts = [(add.queue.queue_id, add.position.offset, add.why) for add in world.adds("a")]
    assert starts == [(number, 0, "minimum") for number in range(4)]


@pytest.mark.parametrize(
    "lives, committed, start",
    [
        (["one"], 9, (9, "committed")),
        (["one"], 10, (3, "minimum")),
        (["one", "two"], 9, (3, "minimum")),
    ],
)
def test_a_topic_that_grows_before_the_first_generation(
    lives: list[str], committed: int, start: tuple[int, str]
) -> None:
    """A queue is known as new also where nothing was ever granted that its state knows."""
    world = GroupWorld()
    world.recovering, world.generation, world.marker = True, 1, 1
    world.beat("a")
    world.run()
    for identity in lives:
        world.route(1, identity=identity)
        world.run()
    world.route(2, identity=lives[-1])
    world.run()
    world.claims("a")
    for _ in range(40):
        world.pass_time(1_000)
        world.beat("a")
        world.run()
    world.bounds(2, identity=lives[-1], first=3, last=9, committed=Position(0, committed))
    world.run()
    adds = {add.queue.queue_id: (add.position.offset, add.why) for add in world.adds("a")}
    assert adds[1] == start
