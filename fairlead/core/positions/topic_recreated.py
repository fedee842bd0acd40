"""A route tells which life of its topic there is: what becomes of what was known of its queues.

Decides which positions, grants and resets are of a former life. Which queues there are, and who
gets them, is decided elsewhere.
"""

from collections.abc import Collection
from dataclasses import replace

from fairlead.core.draft import Draft
from fairlead.core.model import Epoch, MessageQueue, Route
from fairlead.core.targets.queue_measures import forget
from fairlead.core.positions.resets import follow_set_aside
from fairlead.core.state import QueueState
from fairlead.core.topics.topic_identity import note_remade

__all__ = ["forget_routes", "settle_lives"]


def settle_lives(
    draft: Draft, route: Route, former: str | None, void: Epoch, append_ms: int
) -> None:
    """Begin the queues of another life anew, and follow the resets that were asked for this one.

    ``former`` is the identity that was known before, None if no route was. All grants up to
    ``void`` are of a former life. ``append_ms``: when the route was appended.
    """
    if former not in (None, route.identity):
        note_remade(draft, route.topic)
    for queue, value in list(draft.state.queues.items()):
        if queue.topic != route.topic:
            continue
        if (value.identity or former) not in (None, route.identity):
            note_remade(draft, route.topic)
            _start_anew(draft, queue, value, void, append_ms)
        elif value.identity is not None:
            draft.set_queue(queue, replace(value, identity=None))
        follow_set_aside(draft, queue)


def forget_routes(draft: Draft, topics: Collection[str]) -> None:
    """Forget all routes but those of these topics.

    What is still known of a queue keeps the life that it is of: the topic may be made anew before
    anybody subscribes to it again.
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


def _start_anew(
    draft: Draft, queue: MessageQueue, value: QueueState, void: Epoch, append_ms: int
) -> None:
    """Forget the positions of a topic's former life.

    Its grants are dropped, for their members read what is gone; in a barrier, at its end. Routes
    are applied after control: a reset that was appended after the route is one of the new life,
    unless it names one.
    """
    chain = value.chain
    if chain and not chain[-1].dropped and draft.state.barrier is None:
        newest = replace(chain[-1], dropped=True, dropped_ms=draft.moment.clock_ms)
        chain = (*chain[:-1], newest)
        draft.new_epoch()
        draft.command_drop(queue, newest)
    reset_ms, position = draft.resets.get(queue, (append_ms, None))
    anew = QueueState(
        chain=chain,
        late=True,
        void=void,
        overtaken=value.overtaken,
        asked=position if reset_ms >= append_ms else None,
        set_aside=value.set_aside,
    )
    draft.set_queue(queue, anew)
    forget(draft, queue)
