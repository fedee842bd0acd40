"""A route brings new queues: the old and the new set switch in one decision.

Decides how long the old shares stay. The group can grant a new queue only when it knows its bounds,
which it requests when it reads the route. New targets at once would move the old queues in one
decision and add the new ones in another. So every queue stays with its holder until the bounds are
there, or the time for that is over. A queue that is no longer in its route is dropped at once.

ADR 0106 gives the reasons.
"""

from fairlead.core.draft import Draft
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.core.outputs import Cause
from fairlead.core.state import GroupState
from fairlead.core.topics.routes import readable_queues

__all__ = ["BOUNDS_NOT_TOLD", "growth_end_ms", "is_growing", "note_growth", "queues_without_start"]

BOUNDS_NOT_TOLD = "new queues were not told within"
"""Words of the reason in a decision that waited in vain for the bounds of a grown topic."""


def note_growth(draft: Draft, topic: str, clock_ms: int) -> None:
    """Note that a topic's route has changed, if it brings queues and there are shares to keep."""
    state = draft.state
    if not draft.engine.switch_ms or state.barrier is not None or draft.rules.pause:
        return
    held = any(value.chain for value in state.queues.values())
    brought = any(queue.topic == topic for queue in queues_without_start(state))
    if held and brought and state.growing_since_ms is None:
        state.growing_since_ms = clock_ms


def growth_end_ms(state: GroupState, switch_ms: int) -> int | None:
    """Return the clock at which the wait for bounds ends; None: there is none."""
    since_ms = state.growing_since_ms
    return None if since_ms is None else since_ms + switch_ms


def is_growing(draft: Draft, *, hurried: bool) -> bool:
    """Tell whether targets still wait for bounds; if that has just ended, compute them again.

    ``hurried``: an operator has set a rule, which does not wait.
    """
    state, end_ms = draft.state, growth_end_ms(draft.state, draft.engine.switch_ms)
    if end_ms is None:
        return False
    left = queues_without_start(state)
    over = draft.moment.clock_ms >= end_ms
    if left and not over and not hurried and not draft.rules.pause:
        return True
    state.growing_since_ms = None
    draft.dirty = True
    if left and over:
        because = f"bounds of {len(left)} {BOUNDS_NOT_TOLD} {draft.engine.switch_ms} ms"
        draft.because_of(Cause("settled", because=because))
    return False


def queues_without_start(state: GroupState) -> list[MessageQueue]:
    """Return the readable queues that are new: without an owner, a known start or a target.

    A queue with a target that waits for its bounds is no new one.
    """
    free = [
        queue
        for queue, value in state.queues.items()
        if value.base is None and not value.chain and queue not in state.targets
    ]
    if not free:
        return []
    topics = {queue.topic for queue in free} & state.routes.keys()
    readable = {queue for topic in topics for queue in readable_queues(state.routes[topic])}
    return sorted(readable.intersection(free), key=queue_order)
