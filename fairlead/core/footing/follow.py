"""How a group begins to follow RocketMQ's strategy: as it begins at all, or when it goes back.

The engine forgets what it knows of positions then: who follows commits at the broker, and tools of
RocketMQ move that as they like. An operator's reset stays, for the day when the engine takes over.
"""

from dataclasses import replace

from fairlead.core.draft import Draft
from fairlead.core.footing.attachment import NEVER, followed, sharing
from fairlead.core.footing.transitions import Event, move, standing_of
from fairlead.core.model import NOTHING, MessageQueue
from fairlead.core.standing import Footing
from fairlead.core.state import RESET, GroupState, QueueState
from fairlead.core.targets.compute import allocation_text, shared_queues

__all__ = ["begin_to_follow", "give_back_when_asked", "let_go"]


def begin_to_follow(draft: Draft) -> None:
    """Let a group begin as following: all its members can, and nobody has a grant."""
    members = sharing(draft.state)
    if not members or any(member.profile.follows is None for member in members):
        return
    if any(value.grants for value in draft.state.queues.values()):
        return
    move(draft, Event.STANDING_BY, Footing.FOLLOWING)
    let_go(draft)


def give_back_when_asked(draft: Draft) -> None:
    """Begin to give a group back, go on with that, or keep it."""
    footing = standing_of(draft).footing
    wanted = draft.rules.take_over == NEVER and followed(draft) is not None
    if footing is Footing.RETURNING:
        if not wanted:
            move(draft, Event.KEPT, Footing.OWN)
        elif _lies_as_followed(draft):
            move(draft, Event.GIVEN, Footing.FOLLOWING)
            let_go(draft)
    elif wanted:
        move(draft, Event.GIVING, Footing.RETURNING, f"by {followed(draft)}")


def _lies_as_followed(draft: Draft) -> bool:
    """Tell whether nothing is in handover, and each queue is where the strategy would have it."""
    state = draft.state
    if draft.dirty or state.awaited or state.failures or state.settling is not None:
        return False
    if state.allocated_by != allocation_text(draft):
        return False
    shared = [queue for held in shared_queues(state).values() for queue in held]
    return all(_lies(state, queue) for queue in (*shared, *state.queues))


def _lies(state: GroupState, queue: MessageQueue) -> bool:
    value = state.queues.get(queue, QueueState())
    if value.overtaken or len(value.chain) > 1 or any(grant.dropped for grant in value.chain):
        return False
    owner = state.targets.get(queue)
    if value.chain:
        return value.chain[0].member.client_id == owner
    # Without a start nobody has it: who follows asks the broker.
    return owner is None or value.base is None


def let_go(draft: Draft) -> None:
    """End all grants without a release, and forget positions, targets and those who may return."""
    state = draft.state
    for queue, value in sorted(state.queues.items()):
        draft.resolved(queue, [each for each in value.grants if each.epoch != NOTHING], None)
        pending = value.base if value.why == RESET else value.asked
        fresh = replace(
            value,
            chain=(),
            overtaken=(),
            doubts=(),
            end=None,
            # Reports of these grants mean nothing any more.
            void=max(value.void, draft.last_epoch()),
            # But what the followers commit is this topic's own, and where the queue goes on.
            grown=True,
        )
        if value.why == RESET:
            fresh = replace(fresh, base=None, why="", asked=pending)
        draft.set_queue(queue, fresh)
    state.targets, state.failures, state.awaited = {}, {}, {}
    state.settling = state.growing_since_ms = None
    state.measures, state.weights = {}, {}
