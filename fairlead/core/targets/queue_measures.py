"""What the members of a group report of its queues, and the weights in force.

Decides when queues are weighed; :mod:`fairlead.core.rules.queue_weights` decides what they weigh.
Every report is kept under every strategy: one that balances by weight begins with what is known.
"""

from itertools import groupby

from fairlead.core.draft import Draft
from fairlead.core.membership.members import subscribed_topics
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.core.outputs import Cause
from fairlead.core.records import QueueProgress
from fairlead.core.rules.queue_weights import measured, weigh
from fairlead.core.state import GroupState
from fairlead.core.topics.routes import writable_queues

__all__ = ["forget", "measure", "takes_weights", "weigh_queues", "weigh_when_due"]

NAMED_MAX = 3
"""The reason of a change names so many queues."""


def measure(draft: Draft, clock_ms: int, made: QueueProgress) -> None:
    """Keep what the holder of a queue reports of it."""
    if made.end is None:
        return
    known = draft.state.measures.get(made.queue)
    draft.state.measures[made.queue] = measured(
        known, clock_ms, made.end, made.position.offset, draft.rules.weighing.over_ms
    )


def forget(draft: Draft, queue: MessageQueue) -> None:
    """Forget the measures of a queue: it is gone, or another one has its name."""
    draft.state.measures.pop(queue, None)
    draft.state.weights.pop(queue, None)


def weigh_when_due(draft: Draft, clock_ms: int) -> None:
    """Put measured weights in force if the clock has passed a multiple of the trigger period.

    The step calls this before it keeps a report and once at its end, so that only reports from
    before the multiple count, however the log is cut.
    """
    state, period = draft.state, draft.rules.trigger_ms
    if state.barrier is not None:
        return
    if clock_ms // period > max(draft.weighed_ms, state.recomputed_ms) // period:
        weigh_queues(draft, clock_ms // period * period)
    draft.weighed_ms = clock_ms


def weigh_queues(draft: Draft, at_ms: int) -> None:
    """Put the weights in force that were measured by a clock; each changed topic is a cause."""
    state, rules = draft.state, draft.rules
    weights: dict[MessageQueue, float] = {}
    if takes_weights(draft):
        weights = weigh(
            state.measures,
            state.weights,
            writable=_writable(state),
            weighing=rules.weighing,
            period_ms=rules.trigger_ms,
            at_ms=at_ms,
        )
    changed = [
        queue
        for queue in sorted({*weights, *state.weights}, key=queue_order)
        if weights.get(queue, 1.0) != state.weights.get(queue, 1.0)
    ]
    if not changed:
        return
    before, state.weights = state.weights, weights
    draft.dirty = True
    for topic, queues in groupby(changed, key=lambda queue: queue.topic):
        changes = [(queue, before.get(queue, 1.0), weights.get(queue, 1.0)) for queue in queues]
        text = _worded(rules.weighing.by, changes)
        draft.because_of(Cause("weights_changed", topic=topic, because=text))


def takes_weights(draft: Draft) -> bool:
    """Tell whether the strategy in force balances by weight."""
    strategy = draft.engine.strategies.get(draft.rules.strategy)
    return bool(getattr(strategy, "takes_weights", False))


def _writable(state: GroupState) -> dict[MessageQueue, bool]:
    return {
        queue: ready
        for topic in subscribed_topics(state)
        if topic in state.routes
        for queue, ready in writable_queues(state.routes[topic]).items()
    }


def _worded(by: str, changes: list[tuple[MessageQueue, float, float]]) -> str:
    """Describe the greatest changes first: a record has room for some."""
    changes.sort(key=lambda change: -abs(change[2] - change[1]))
    named = [
        f"{queue.broker_name}/{queue.queue_id} {before:g} to {after:g}"
        for queue, before, after in changes[:NAMED_MAX]
    ]
    more = len(changes) - len(named)
    return f"measured by {by}: {', '.join(named)}" + (f" and {more} more" if more else "")
