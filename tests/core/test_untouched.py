"""A queue that does not move is never touched, whatever else happens to its group."""

from dataclasses import replace
from random import Random

from fairlead.core.handover.chain import Phase, phase_of
from fairlead.core.model import MessageQueue
from fairlead.core.outputs import Assignment, Decision
from fairlead.core.records import Release
from fairlead.core.state import QueueState
from tests.kit.group_world import GroupWorld, key_of

QUEUES = 24
NAMES = "abcdefgh"


def _at_rest(world: GroupWorld) -> dict[MessageQueue, QueueState]:
    state = world.state
    if state is None or state.barrier is not None:
        return {}
    return {queue: value for queue, value in state.queues.items() if phase_of(value) is Phase.OWNED}


def _change(world: GroupWorld, chance: Random, lives: dict[str, int]) -> None:
    """Let something happen to the members or to the rules."""
    name = chance.choice(NAMES)
    match chance.randrange(5):
        case 0 | 1:
            if world.state is None or key_of(name, lives.get(name, 0)) not in world.state.members:
                lives[name] = lives.get(name, 0) + 1
            world.beat(name, life=lives[name])
        case 2:
            if name in lives:
                world.leave(name, lives[name])
        case 3:
            strategy = chance.choice(("AVG", "AVG_BY_CIRCLE", "STICKY", "CONSISTENT_HASH"))
            world.rule("strategy", {"name": strategy})
        case 4:
            world.rule("mode", chance.choice(("cooperative", "eager")))


def _release_some(world: GroupWorld, chance: Random) -> None:
    state = world.state
    for queue, value in state.queues.items() if state is not None else ():
        for grant in (*value.overtaken, *value.chain):
            if grant.dropped and chance.random() < 0.4:
                life = int(grant.member.incarnation.rpartition("-")[2])
                offset = chance.choice((None, chance.randrange(90)))
                world.release(
                    grant.member.client_id, queue.queue_id, grant.epoch, offset, life=life
                )


def _live(seed: int) -> int:
    """Live through some changes; return how many queues stood by while others moved."""
    world, chance, lives = GroupWorld(), Random(seed), {"a": 1}
    world.beat("a")
    world.publish(QUEUES)
    stood_by = 0
    for _ in range(40):
        _change(world, chance, lives)
        _release_some(world, chance)
        before = _at_rest(world)
        released = {
            arrival.record.queue for arrival in world.waiting if isinstance(arrival.record, Release)
        }
        world.run()
        moves = {
            move.queue
            for output in world.outputs
            if isinstance(output, Decision)
            for move in output.moves
        }
        told = set()
        for output in world.outputs:
            if isinstance(output, Assignment):
                told |= {drop.queue for drop in output.drop} | {add.queue for add in output.add}
        assert world.state is not None
        for queue, value in before.items():
            holder = value.chain[0].member
            wanted = world.state.targets.get(queue) == holder.client_id
            if queue in released or not wanted or world.state.members.get(holder) is None:
                continue
            if world.state.members[holder].leaving:
                continue
            assert world.state.queues[queue] == value
            assert queue not in moves | told
            stood_by += bool(moves)
    return stood_by


def test_a_queue_that_does_not_move_is_never_touched() -> None:
    """Joins, leaves and rules name only the queues that go to somebody else."""
    assert sum(_live(seed) for seed in range(30)) > 1_000


def test_a_heartbeat_leaves_every_queue_as_it_is() -> None:
    """What does not move is the same object: nothing is rebuilt to be equal."""
    world = GroupWorld()
    for name in "abc":
        world.beat(name)
    world.publish(QUEUES)
    assert world.state is not None
    before = replace(world.state).queues
    world.beat("a")
    world.run()
    assert world.state is not None
    assert all(world.state.queues[queue] is value for queue, value in before.items())
