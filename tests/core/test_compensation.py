"""The periodic trigger: who owns what is compared with what there is to own, and made good."""

from dataclasses import replace

import pytest

from fairlead.core.outputs import Assignment, Decision
from fairlead.core.topics.routes import readable_queues
from tests.kit.group_world import GroupWorld, queue_of, settled

TRIGGER_MS = 20_000


def _until_the_trigger(world: GroupWorld) -> list[Decision]:
    """Let everybody heartbeat until the trigger has fired; return what was decided meanwhile."""
    decided = []
    for _ in range(TRIGGER_MS // 5_000 + 1):
        world.pass_time(5_000)
        for client in ("a", "b"):
            world.beat(client)
        world.run()
        decided += [each for each in world.outputs if isinstance(each, Decision)]
    return decided


def _owned(world: GroupWorld) -> dict[int, str]:
    """Return who works on which queue: the newest grant that was not dropped."""
    assert world.state is not None
    return {
        queue.queue_id: value.chain[-1].member.client_id
        for queue, value in world.state.queues.items()
        if value.chain and not value.chain[-1].dropped
    }


@pytest.mark.parametrize("lost", ["grant", "target", "both", "queue"])
def test_a_queue_without_an_owner_is_found(lost: str) -> None:
    """A readable queue that nobody owns, whatever of it is missing, has its owner back by then."""
    world = settled("a", "b")
    before = _owned(world)
    assert world.state is not None
    queue = queue_of(1)
    if lost in ("target", "both"):
        del world.state.targets[queue]
    if lost in ("grant", "both"):
        world.state.queues[queue] = replace(world.state.queues[queue], chain=())
    if lost == "queue":
        del world.state.queues[queue]
        world.state.targets.pop(queue)
    decided = _until_the_trigger(world)
    if lost == "queue":
        # Nothing is known of where it was: its bounds are asked for, and then it is granted.
        world.bounds(4)
        world.run()
    assert _owned(world) == before
    route = world.state.routes["orders"]
    assert {each.queue_id for each in readable_queues(route)} == before.keys()
    if lost in ("grant", "both"):
        (decision,) = decided
        assert decision.triggers == ("trigger",)
        assert {move.queue for move in decision.moves} == {queue}


def test_what_is_whole_is_left_alone() -> None:
    """Where every queue has its owner the trigger writes nothing, however often it fires."""
    world = settled("a", "b")
    before = _owned(world)
    for _ in range(3):
        assert _until_the_trigger(world) == []
        assert not any(isinstance(each, Assignment) for each in world.outputs)
    assert _owned(world) == before
