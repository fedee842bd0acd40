"""A queue that its member holds and does not pull is taken anew, by the same member."""

from collections.abc import Callable

import pytest

from fairlead.core.model import Epoch, MemberProfile
from fairlead.core.outputs import Decision
from fairlead.core.records import Progress, QueueProgress
from tests.kit.group_settling import settle
from tests.kit.group_world import GROUP, GroupWorld, key_of, position_of, queue_of, settled

LIMIT_MS = 120_000


def _counted(world: GroupWorld) -> int:
    """Step the world, and return how many queues were taken anew."""
    return world.run().counts.get(("pull_idle", ""), 0)


def _owned(world: GroupWorld, client: str) -> int:
    """Return the first queue that a client owns."""
    assert world.state is not None
    return min(queue.queue_id for queue, owner in world.state.targets.items() if owner == client)


def test_a_reclaimed_queue_is_granted_anew_in_one_decision() -> None:
    """One decision drops it and adds it again under a new epoch, at its position, with a cause."""
    world = settled("a", "b")
    number = _owned(world, "a")
    held = world.epoch_of(number)
    others = {each: world.epoch_of(each) for each in range(4) if each != number}
    world.progress("a", number, held, 9, idle_ms=LIMIT_MS + 1)
    assert _counted(world) == 1
    (drop,) = world.told("a").drop
    (add,) = world.adds("a")
    assert (drop.queue, drop.epoch) == (queue_of(number), held)
    assert (add.queue, add.position) == (queue_of(number), position_of(9))
    assert add.epoch > held
    assert [(each.member, each.epoch) for each in add.after] == [(key_of("a"), held)]
    decision = world.decision
    (cause,) = decision.cause
    assert (cause.kind, cause.client_id, cause.queue) == ("pull_idle", "a", queue_of(number))
    assert (decision.triggers, decision.alarms) == (("pull_idle",), ("pull_idle",))
    assert {each: world.epoch_of(each) for each in others} == others
    # What was read meanwhile counts: the new grant starts where the old one was released.
    world.release("a", number, held, 11)
    world.run()
    assert [(each.position, each.after) for each in world.adds("a")] == [(position_of(11), ())]


def test_an_application_that_hangs_is_not_cycled() -> None:
    """Reports under the old epoch change nothing more; the new grant must be idle by itself."""
    world = settled("a")
    held = world.epoch_of(0)
    world.progress("a", 0, held, 9, idle_ms=LIMIT_MS + 1)
    assert _counted(world) == 1
    anew = world.epoch_of(0)
    for second in range(5):
        world.pass_time(1_000)
        world.beat("a")
        world.progress("a", 0, held, 9, idle_ms=LIMIT_MS + 1_000 * second)
        assert _counted(world) == 0
    world.release("a", 0, held, 9)
    world.progress("a", 0, anew, 9, idle_ms=1_000)
    assert _counted(world) == 0
    assert world.epoch_of(0) == anew
    world.progress("a", 0, anew, 9, idle_ms=LIMIT_MS + 1)
    assert _counted(world) == 1
    assert world.epoch_of(0) > anew


@pytest.mark.parametrize(
    "consume_type, limit, idle_ms, taken",
    [
        ("push", None, LIMIT_MS, 0),
        ("push", None, LIMIT_MS + 1, 1),
        ("push", None, None, 0),
        ("push", 5_000, 5_001, 1),
        ("push", 5_000, 5_000, 0),
        ("push", "never", 10 * LIMIT_MS, 0),
        ("pull", None, 10 * LIMIT_MS, 0),
    ],
)
def test_only_push_members_are_idle_and_only_after_the_limit(
    consume_type: str, limit: int | str | None, idle_ms: int | None, taken: int
) -> None:
    """It is for push members, and for longer than the limit of their group, which may be never."""
    profile = MemberProfile(consume_type=consume_type, consume_from="first_offset")
    world = GroupWorld()
    if limit is not None:
        world.rule("timing", {"pull_max_idle_ms": limit})
    world.beat("a", profile=profile)
    world.publish(2)
    world.progress("a", 0, world.epoch_of(0), 3, idle_ms=idle_ms)
    assert _counted(world) == taken


def test_the_newest_word_counts() -> None:
    """Who has pulled since is left alone; what is no grant of its sender's means nothing."""
    world = settled("a", "b")
    number = _owned(world, "a")
    held = world.epoch_of(number)
    world.progress("a", number, held, 9, idle_ms=LIMIT_MS + 1)
    world.progress("a", number, held, 10, idle_ms=0)
    world.progress("b", number, held, 9, idle_ms=LIMIT_MS + 1)
    world.progress("a", number, Epoch(held.generation, held.number + 1), 9, idle_ms=LIMIT_MS + 1)
    assert _counted(world) == 0
    assert not any(isinstance(each, Decision) for each in world.outputs)


def test_one_record_may_tell_of_several_idle_queues() -> None:
    """One record may tell of several queues: one decision, a cause for each of them."""
    world = settled("a")
    epochs = {number: world.epoch_of(number) for number in (1, 3)}
    made = tuple(
        QueueProgress(queue_of(number), epoch, position_of(5), idle_ms=LIMIT_MS + 1)
        for number, epoch in epochs.items()
    )
    world.add("heartbeats", Progress(GROUP, key_of("a"), made))
    assert _counted(world) == 2
    causes = [(each.kind, each.queue) for each in world.decision.cause]
    assert causes == [("pull_idle", queue_of(1)), ("pull_idle", queue_of(3))]
    assert [add.queue for add in world.adds("a")] == [queue_of(1), queue_of(3)]


def test_while_a_barrier_lasts() -> None:
    """Nothing is dropped in a barrier, and a report that was read in it is not remembered."""
    world = settled("a")
    held = world.epoch_of(0)
    world.driver(2)
    world.progress("a", 0, held, 9, idle_ms=LIMIT_MS + 1)
    assert _counted(world) == 0
    world.claims("a", *((number, held, 9, True) for number in range(4)))
    assert _counted(world) == 0
    assert world.epoch_of(0) == held


def test_a_queue_that_is_to_move_is_not_added_again() -> None:
    """A queue that is to go to another member in this very step goes there, and is not added."""
    world = settled("a")
    epochs = {number: world.epoch_of(number) for number in range(4)}
    world.beat("b")
    for number in (2, 3):
        world.progress("a", number, epochs[number], 9, idle_ms=LIMIT_MS + 1)
    assert _counted(world) == 2
    assert [add.queue for add in world.adds("b")] == [queue_of(2), queue_of(3)]
    assert world.adds("a") == []


def _with_trigger(world: GroupWorld) -> None:
    """Bring the world to its next trigger, with everybody alive, and do not step it."""
    for _ in range(20):
        world.pass_time(1_000)
        for client in "abc":
            world.beat(client)
        if world.clock_ms % 20_000 == 0:
            return
        world.run()
    pytest.fail("no trigger in 20 s")


def _with_rule(world: GroupWorld) -> None:
    world.rule("timing", {"pull_max_idle_ms": LIMIT_MS})


def _with_pause(world: GroupWorld) -> None:
    world.rule("pause", value=True)


@pytest.mark.parametrize("strategy", ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "STICKY"])
@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("event", [_with_trigger, _with_rule, _with_pause])
def test_it_stays_with_its_member(
    strategy: str, number: int, event: Callable[[GroupWorld], None]
) -> None:
    """Whatever has the queues shared anew in the same step, and whoever shares them."""
    world = GroupWorld()
    world.rule("strategy", {"name": strategy})
    world.beat("c")
    world.publish(5)
    for client in "ab":
        # Not as if all had come together: to STICKY it matters who has what.
        world.beat(client)
        settle(world)
    assert world.state is not None
    owners = dict(world.state.targets)
    held = world.epoch_of(number)
    event(world)
    world.progress(owners[queue_of(number)], number, held, 9, idle_ms=LIMIT_MS + 1)
    assert _counted(world) == 1
    assert world.state.targets == owners
    assert world.epoch_of(number) > held
    assert number in world.owned(owners[queue_of(number)])
