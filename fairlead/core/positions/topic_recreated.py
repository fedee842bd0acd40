"""A route shows another identity of its topic: what the group knew of its queues is void.

Decides which positions, grants and resets belong to a former identity, not which queues there are
or who gets them.
"""

from collections.abc import Collection
from dataclasses import replace

from fairlead.core.draft import Draft
from fairlead.core.model import Epoch, MessageQueue, Route
from fairlead.core.positions.resets import follow_set_aside
from fairlead.core.state import QueueState
from fairlead.core.targets.queue_measures import forget
from fairlead.core.topics.topic_identity import note_recreated

__all__ = ["apply_identity", "forget_routes"]


def apply_identity(
    draft: Draft, route: Route, former: str | None, void: Epoch, append_ms: int
) -> None:
    """Start the queues of another identity again, and follow the resets that wait for this one.

    ``former`` is the identity that the group knew before, None if it had no route. All grants up to
    ``void`` belong to a former identity. ``append_ms``: when the route was appended.
    """
    if former not in (None, route.identity):
        note_recreated(draft, route.topic)
    for queue, value in list(draft.state.queues.items()):
        if queue.topic != route.topic:
            continue
        if (value.identity or former) not in (None, route.identity):
            note_recreated(draft, route.topic)
            _restart_queue(draft, queue, value, void, append_ms)
        elif value.identity is not None:
            draft.set_queue(queue, replace(value, identity=None))
        follow_set_aside(draft, queue)


def forget_routes(draft: Draft, topics: Collection[str]) -> None:
    """Forget all routes except those of these topics.

    The queues keep the identity that they belong to: the topic may be created again before a member
    subscribes to it again.
    """
    state = draft.state
    gone = state.routes.keys() - set(topics)
    if not gone:
        return
    for queue, value in list(state.queues.items()):
        if queue.topic in gone and value.identity is None:
            draft.set_queue(queue, replace(value, identity=state.routes[queue.topic].identity))
    state.routes = {topic: route for topic, route in state.routes.items() if topic not in gone}
    state.late_topics = tuple(topic for topic in state.late_topics if topic not in gone)


def _restart_queue(
    draft: Draft, queue: MessageQueue, value: QueueState, void: Epoch, append_ms: int
) -> None:
    """Forget a queue's positions under a former identity of its topic.

    Its grants are dropped, for their members read what is gone; in a barrier, at its end. Control
    is applied before routes: a reset that names no identity and was appended after the route
    belongs to the new one.
    """
    chain = value.chain
    if chain and not chain[-1].dropped and draft.state.barrier is None:
        newest = replace(chain[-1], dropped=True, dropped_ms=draft.moment.clock_ms)
        chain = (*chain[:-1], newest)
        draft.new_epoch()
        draft.command_drop(queue, newest)
    reset_ms, position = draft.resets.get(queue, (append_ms, None))
    fresh = QueueState(
        chain=chain,
        late=True,
        void=void,
        overtaken=value.overtaken,
        asked=position if reset_ms >= append_ms else None,
        set_aside=value.set_aside,
    )
    draft.set_queue(queue, fresh)
    forget(draft, queue)
