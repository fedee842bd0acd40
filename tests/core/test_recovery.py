"""Recovery of a group whose state was lost: who is waited for, what counts, where queues start."""

import pytest

from fairlead.core.allocation import Allocation, AllocationRequest
from fairlead.core.model import Epoch, MemberProfile, Position
from fairlead.core.moment import Moment
from fairlead.core.outputs import Add, Assignment, Decision, Drop, Request
from fairlead.core.step import due_ms, step
from tests.kit.group_world import GROUP, GroupWorld, key_of, queue_of, settled

WAIT_MS = 13_000
"""Lease and margin of the defaults."""
HELD = Epoch(1, 2)


class Failing:
    """A strategy that raises."""

    name = "AVG"

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Fail."""
        raise ZeroDivisionError(request.group)


def _commands(world: GroupWorld) -> list[Drop | Add]:
    commands: list[Drop | Add] = []
    for output in world.outputs:
        if isinstance(output, Assignment):
            commands += (*output.drop, *output.add)
    return commands


def _lost(*clients: str, queues: int = 2, profile: MemberProfile | None = None) -> GroupWorld:
    """Return a world whose driver has just begun without state and has met these clients."""
    world = GroupWorld()
    world.lose(2)
    for client in clients:
        world.beat(client, profile=profile)
    world.run()
    world.route(queues)
    world.run()
    return world


def _wait(world: GroupWorld, *clients: str, milliseconds: int = WAIT_MS) -> None:
    """Let lease and margin pass while these clients heartbeat."""
    for passed in (milliseconds // 2, milliseconds - milliseconds // 2):
        world.pass_time(passed)
        for client in clients:
            world.beat(client)
        world.run()


def test_acknowledgements_alone_do_not_end_it() -> None:
    """Although everybody met has acknowledged, one may live who was not heard yet (CE7b)."""
    world = _lost("b")
    world.claims("b")
    _wait(world, "b")
    assert _commands(world) == []
    assert world.state is not None
    assert world.state.barrier is not None
    world.beat("a")
    world.claims("a", (0, HELD, 40, True), (1, HELD, 50, True))
    world.pass_time(1)
    world.run()
    assert world.decision.triggers[-1] == "recovery_passed"
    assert world.owned("a") == [0]
    assert [command.queue for command in _commands(world) if isinstance(command, Drop)] == [
        queue_of(1)
    ]


def test_the_wait_alone_does_not_end_it() -> None:
    """Who heartbeats and has not acknowledged may still take an add that was on its way (CE7)."""
    world = _lost("a", "b")
    world.claims("b")
    _wait(world, "a", "b", milliseconds=20_000)
    assert _commands(world) == []
    world.claims("a")
    world.run()
    assert world.decision.triggers == ("recovery_passed",)


def test_the_wait_counts_from_the_marker() -> None:
    """What passed on the clock before the marker was read again, not waited (rule H18)."""
    world = GroupWorld()
    world.lose(2, marked=False)
    world.beat("a")
    world.claims("a")
    world.run()
    _wait(world, "a", milliseconds=60_000)
    world.marker = 2
    world.run()
    _wait(world, "a")
    assert world.state is not None
    assert world.state.barrier is not None
    world.pass_time(1)
    world.run()
    assert world.state.barrier is None


def test_it_is_due_when_the_wait_is_over() -> None:
    """The group is looked at at the first moment at which its recovery may end."""
    world = GroupWorld()
    world.lose(2)
    world.rule("strategy", {"name": "AVG"})
    world.run()
    assert world.state is not None
    assert due_ms(world.state, world.rules) == world.clock_ms + WAIT_MS + 1
    world.pass_time(WAIT_MS + 1)
    world.run()
    assert world.decision.triggers == ("recovery_passed",)
    assert due_ms(world.state, world.rules) > world.clock_ms


def test_a_longer_lease_is_waited_for() -> None:
    """A member that keeps a longer lease than its group is waited for by its own."""
    world = _lost("a", profile=MemberProfile(lease_ms=60_000))
    world.beat("b")
    world.claims("b")
    world.run()
    _wait(world, "b", milliseconds=62_999)
    assert _commands(world) == []
    world.pass_time(1_000)
    world.beat("b")
    world.run()
    assert world.decision.triggers == ("client_expired", "recovery_passed")


def test_a_queue_that_nobody_claims_starts_at_what_was_committed() -> None:
    """Neither an answer of before the loss counts, nor the end of the queue (rule H19)."""
    world = _lost("a", queues=1, profile=MemberProfile(consume_from="last_offset"))
    world.bounds(1, committed=Position(0, 10))
    world.claims("a")
    world.run()
    _wait(world, "a", milliseconds=WAIT_MS + 2)
    assert [output.what for output in world.outputs if isinstance(output, Request)] == ["offsets"]
    world.bounds(1, committed=Position(0, 60))
    world.run()
    assert [(add.position, add.why) for add in world.adds("a")] == [(Position(0, 60), "committed")]


def test_a_queue_that_was_never_committed_starts_at_its_minimum() -> None:
    """After a loss every queue counts as one that its group already shared (rule H19)."""
    world = _lost("a", queues=1, profile=MemberProfile(consume_from="last_offset"))
    world.claims("a")
    _wait(world, "a", milliseconds=WAIT_MS + 2)
    world.bounds(1, first=7)
    world.run()
    assert [(add.position, add.why) for add in world.adds("a")] == [(Position(0, 7), "minimum")]


def test_a_route_that_comes_after_the_recovery() -> None:
    """A queue whose route was not known before the end of the recovery is no new one either."""
    profile = MemberProfile(consume_from="last_offset")
    world = GroupWorld()
    world.lose(2)
    world.beat("a", profile=profile)
    world.claims("a")
    world.run()
    _wait(world, "a", milliseconds=WAIT_MS + 2)
    assert world.state is not None
    awaited = world.state.late_topics
    world.route(1)
    world.bounds(1, first=7)
    world.run()
    assert [add.position for add in world.adds("a")] == [Position(0, 7)]
    assert (awaited, world.state.late_topics) == (("orders",), ("orders",))


def test_owners_go_on_while_the_route_is_unknown() -> None:
    """Nobody is dropped, and no position forgotten, because no bridge has told the route yet."""
    world = GroupWorld()
    world.lose(2)
    world.beat("a")
    world.claims("a", (0, HELD, 40, True), (1, HELD, 50, False))
    world.run()
    _wait(world, "a", milliseconds=WAIT_MS + 2)
    assert world.decision.triggers == ("recovery_passed",)
    assert _commands(world) == []
    assert world.owned("a") == [0]
    world.route(2)
    world.run()
    assert [(add.queue, add.position.offset) for add in world.adds("a")] == [(queue_of(1), 50)]
    assert world.owned("a") == [0, 1]


def test_positions_of_the_dead_count() -> None:
    """Progress, a release and the claims of members that lapse meanwhile are remembered."""
    world = GroupWorld()
    world.lose(2)
    world.release("gone", 0, HELD, 30)
    world.progress("gone", 1, HELD, 31)
    world.run()
    world.beat("a")
    world.beat("b")
    world.claims("b", (2, HELD, 32, True))
    world.run()
    world.route(3)
    world.claims("a")
    for _ in range(5):
        world.pass_time(3_000)
        world.beat("a")
        world.run()
    assert world.owned("a") == [0, 1, 2]
    assert [add.position.offset for add in world.adds("a")] == [30, 31, 32]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_positions_of_a_former_life(order: tuple[int, ...]) -> None:
    """Positions under an older grant of a queue do not count, in any order (rule H19)."""
    world = GroupWorld()
    world.lose(2)
    world.beat("a")
    world.claims("a")
    world.run()
    world.route(1)
    told = (
        lambda: world.progress("gone", 0, Epoch(1, 2), 1_000),
        lambda: world.progress("gone", 0, Epoch(1, 8), 20),
        lambda: world.progress("gone", 0, Epoch(1, 8), 25),
    )
    for number in order:
        told[number]()
        world.run()
    world.release("gone", 0, Epoch(1, 2), 1_005)
    _wait(world, "a", milliseconds=WAIT_MS + 2)
    assert [add.position.offset for add in world.adds("a")] == [25]


def test_a_topic_made_anew_before_another_start() -> None:
    """What is claimed of a former life is dropped at the end, whichever driver comes to it."""
    world = _lost("a", queues=1)
    world.route(1, identity="two")
    world.run()
    world.driver(3)
    world.beat("a")
    world.claims("a", (0, HELD, 1_000, True))
    world.run()
    _wait(world, "a", milliseconds=WAIT_MS + 2)
    assert [command.epoch for command in _commands(world)] == [HELD]
    world.release("a", 0, HELD, 1_001)
    world.bounds(1, identity="two", first=3)
    world.run()
    assert [add.position.offset for add in world.adds("a")] == [3]


def test_a_member_that_leaves_is_waited_for() -> None:
    """Who leaves may still work on what no state knows: it goes when it has acknowledged."""
    world = _lost("a", "b", queues=1)
    world.claims("b")
    world.leave("a")
    world.run()
    _wait(world, "a", "b", milliseconds=20_000)
    assert _commands(world) == []
    world.claims("a", (0, HELD, 40, True))
    world.run()
    assert world.owned("a") == []
    assert world.state is not None
    assert world.state.queues[queue_of(0)].chain[0].member == key_of("a")
    world.release("a", 0, HELD, 44)
    world.run()
    # Nothing is known of the queue's end: a bridge is asked before anybody starts there.
    assert (_commands(world), [each.what for each in world.requests()]) == ([], ["offsets"])
    world.bounds(1)
    world.run()
    assert [add.position.offset for add in world.adds("b")] == [44]
    assert key_of("a") not in world.state.members


def test_an_acknowledgement_that_is_read_before_its_member() -> None:
    """Claims count for a member whose heartbeat comes later, and for nobody who never comes."""
    world = GroupWorld()
    world.lose(2)
    world.rule("strategy", {"name": "AVG"})
    world.claims("a", (0, HELD, 40, True))
    world.claims("nobody", (0, Epoch(1, 9), 45, True))
    world.run()
    world.beat("a")
    world.run()
    _wait(world, "a", milliseconds=WAIT_MS + 1)
    assert world.decision.triggers == ("recovery_passed",)
    assert world.owned("a") == [0]
    assert world.state is not None
    assert world.state.claims == {}


def test_epochs_are_new() -> None:
    """The numbers of a group begin again; its epochs do not, for the generation is higher."""
    world = _lost("a", queues=1)
    world.claims("a", (0, Epoch(1, 900), 40, False))
    _wait(world, "a", milliseconds=WAIT_MS + 2)
    assert [add.epoch for add in world.adds("a")] == [Epoch(2, 1)]
    assert world.adds("a")[0].epoch > Epoch(1, 900)


def test_a_mute_member_raises_the_alarm() -> None:
    """The alarm is for who heartbeats and does not acknowledge, in a recovery as in a barrier."""
    world = _lost("a", "b")
    world.claims("b")
    alarms = []
    for _ in range(14):
        world.pass_time(3_000)
        world.beat("a")
        world.beat("b")
        world.run()
        alarms += [output.alarms for output in world.outputs if isinstance(output, Decision)]
    assert alarms == [("barrier_mute",)]


def test_a_dead_member_is_not_mute() -> None:
    """Who keeps a long lease and is not heard any more is waited for without an alarm."""
    world = _lost("a", profile=MemberProfile(lease_ms=60_000))
    world.beat("b")
    world.claims("b")
    for _ in range(14):
        world.pass_time(3_000)
        world.beat("b")
        world.run()
        assert not any(isinstance(output, Decision) and output.alarms for output in world.outputs)


def test_rules_come_back_before_anything_is_decided() -> None:
    """A rule creates its group, which recovers under the rule's own times."""
    world = GroupWorld()
    world.lose(2)
    world.rule("timing", {"lease_ms": 60_000})
    world.beat("a")
    world.run()
    world.claims("a")
    _wait(world, "a", milliseconds=62_999)
    assert world.state is not None
    assert world.state.barrier is not None
    world.pass_time(2)
    world.beat("a")
    world.run()
    assert world.state.barrier is None


def test_an_allocation_that_fails_after_the_recovery() -> None:
    """A topic whose allocation fails stays with those who claim it."""
    world = GroupWorld(strategies={"AVG": Failing()})
    world.lose(2)
    world.beat("a")
    world.beat("b")
    world.run()
    world.route(2)
    world.claims("a", (0, HELD, 40, True))
    world.claims("b", (1, HELD, 50, True))
    _wait(world, "a", "b", milliseconds=WAIT_MS + 2)
    assert [failure.code for failure in world.decision.failures] == ["strategy_error"]
    assert _commands(world) == []
    assert (world.owned("a"), world.owned("b")) == ([0], [1])


def test_a_paused_group_is_paused_after_the_recovery() -> None:
    """The pause comes back with control: what is claimed stays, what is free waits."""
    world = GroupWorld()
    world.lose(2)
    world.rule("pause", value=True)
    world.beat("a")
    world.beat("b")
    world.run()
    world.route(2)
    world.claims("a", (0, HELD, 40, True), (1, HELD, 50, True))
    world.claims("b")
    _wait(world, "a", "b", milliseconds=WAIT_MS + 2)
    assert _commands(world) == []
    assert (world.owned("a"), world.owned("b")) == ([0, 1], [])


def test_a_group_that_lost_records_recovers_in_its_own_generation() -> None:
    """A group that gave records up grants nothing before its members have claimed once more."""
    world = settled("a", "b", queues=2)
    held = {client: world.owned(client)[0] for client in "ab"}
    epochs = {number: world.epoch_of(number) for number in range(2)}
    moment = Moment(world.clock_ms, world.clock_ms, 1, incomplete=True)
    world.state = step(world.state, [], moment, world.rules).state
    assert world.state is not None
    assert world.state.barrier is not None
    assert world.state.barrier.recovering
    world.claims("b", (held["b"], epochs[held["b"]], 9, True))
    _wait(world, "a", "b", milliseconds=WAIT_MS + 2)
    assert _commands(world) == []
    world.claims("a")
    world.run()
    assert world.decision.triggers[-1] == "recovery_passed"
    assert world.owned("b") == [held["b"]]
    assert world.state.group == GROUP
