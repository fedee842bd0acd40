"""An operator's reset of a queue: carried out, kept for later, or refused (ADR 0102).

A reset moves its queue under a new epoch, with its own pair as the start (rule H25). If it names an
identity of the topic, the group follows it under no other identity (rule H28).
"""

from dataclasses import replace

from fairlead.core.draft import Draft
from fairlead.core.handover.chain import reset
from fairlead.core.handover.drop import drop_owner
from fairlead.core.membership.members import subscribed_topics
from fairlead.core.model import MessageQueue, Position
from fairlead.core.outputs import Cause
from fairlead.core.records import Arrival, Reset
from fairlead.core.state import GroupState, QueueState

__all__ = ["apply_reset", "carry_out", "follow_set_aside", "settle_unrouted_resets"]


def apply_reset(draft: Draft, arrival: Arrival, wanted: Reset) -> None:
    """Apply a reset; one of a queue that no route has waits until all records are applied."""
    state, queue = draft.state, wanted.queue
    present = state.identity_of(queue.topic)
    position = Position(arrival.source.offset + 1, wanted.offset)
    if wanted.identity not in (None, present):
        assert wanted.identity is not None
        _set_aside(draft, arrival, wanted, (wanted.identity, position))
        return
    if state.barrier is None and queue not in state.queues and _can_be_judged(state, wanted):
        draft.unrouted_resets[queue] = arrival
        return
    _follow(draft, arrival, wanted, position)


def _can_be_judged(state: GroupState, wanted: Reset) -> bool:
    """Tell whether the group knows enough to say that there is no such queue.

    It knows the queues of a topic whose route it has, and which topics its members read. A group
    without members knows nothing: later members may follow the reset.
    """
    present = state.identity_of(wanted.queue.topic)
    return present is not None or (wanted.identity is None and bool(state.members))


def _follow(draft: Draft, arrival: Arrival, wanted: Reset, position: Position) -> None:
    queue = wanted.queue
    if not carry_out(draft, queue, position):
        draft.counts["reset", "duplicate"] += 1
        return
    draft.counts["reset", "applied"] += 1
    if wanted.identity is None:
        draft.resets[queue] = arrival.source.append_ms, position
    _note_cause(draft, arrival, wanted)


def settle_unrouted_resets(draft: Draft) -> None:
    """Follow the resets of queues that a route has by now, and refuse the others.

    Control is applied before routes and heartbeats: the queue may come with a route of the same
    step, or with a member that reads its topic and waits for the route.
    """
    if not draft.unrouted_resets:
        return
    unrouted, draft.unrouted_resets = draft.unrouted_resets, {}
    for queue, arrival in unrouted.items():
        wanted = arrival.record
        assert isinstance(wanted, Reset)
        if queue in draft.state.queues:
            apply_reset(draft, arrival, wanted)
            continue
        routed = queue.topic in draft.state.routes
        if not routed and queue.topic in subscribed_topics(draft.state):
            _follow(draft, arrival, wanted, Position(arrival.source.offset + 1, wanted.offset))
            continue
        draft.counts["reset", "rejected"] += 1
        detail = "its topic's route has no such queue"
        remedy = "look at topic, broker name and queue id; write it again once the queue is there"
        if not routed:
            detail = "no member of the group reads its topic, and no route of the topic is known"
            remedy = (
                "look at the topic; write it again with the topic's identity, or once it is read"
            )
        draft.reject(arrival, "unknown_queue", "queue", (detail, remedy))


def carry_out(draft: Draft, queue: MessageQueue, position: Position) -> bool:
    """Move the start of a queue, and drop its owner; return False if that is done already.

    The successor, perhaps the same member, waits for the owner as in any move. In a barrier nothing
    is dropped: the base keeps the reset, and the end drops work from before it.
    """
    state = draft.state
    value = state.queues.get(queue, QueueState(late=queue.topic in state.routes))
    moved = reset(value, position, sure=not state.recovering)
    if moved is None:
        return False
    if state.barrier is not None or moved.base is None:
        draft.set_queue(queue, moved)
        return True
    drop_owner(draft, queue, moved)
    return True


def follow_set_aside(draft: Draft, queue: MessageQueue) -> None:
    """Carry out the reset that was set aside for the identity that a route has just shown."""
    value = draft.state.queues[queue]
    if value.set_aside is None or value.set_aside[0] != draft.state.identity_of(queue.topic):
        return
    _, position = value.set_aside
    draft.set_queue(queue, replace(value, set_aside=None))
    carry_out(draft, queue, position)


def _set_aside(draft: Draft, arrival: Arrival, wanted: Reset, kept: tuple[str, Position]) -> None:
    """Keep a reset for another identity of the topic than the known one.

    The engine may read its route later. If it knows a route, outside a barrier, the other identity
    is rather a former one, and nothing follows from the reset.
    """
    state, queue = draft.state, wanted.queue
    expected = queue.topic not in state.routes or state.barrier is not None
    late = queue.topic in state.routes or state.recovering
    value = state.queues.get(queue, QueueState(late=late))
    if value.set_aside is not None and value.set_aside[1] >= kept[1]:
        draft.counts["reset", "duplicate"] += 1
        return
    draft.set_queue(queue, replace(value, set_aside=kept))
    draft.counts["reset", "applied" if expected else "stale"] += 1
    if expected:
        _note_cause(draft, arrival, wanted)


def _note_cause(draft: Draft, arrival: Arrival, wanted: Reset) -> None:
    draft.because_of(
        Cause(
            "reset",
            at=arrival.source,
            queue=wanted.queue,
            by=wanted.by or None,
            because=wanted.because,
        )
    )
