"""The last topics of a group without members: a plan lets a joining client subscribe to them.

The first of these that is known counts: the assignments of its last members that the engine has not
removed yet; the queues that its decisions moved since it was last without members; the topics in
which a bridge has seen it commit. A topic that the group gave up before its last members left
counts too: no record says what a group without members would subscribe to.
"""

from dataclasses import dataclass

from fairlead.core.ordering import java_order
from fairlead.kafka.decision_log import last_life
from fairlead.kafka.topic_source import TopicSource
from fairlead.observed.live_group import LiveGroup

__all__ = ["LastTopics", "last_topics"]


@dataclass(frozen=True, slots=True)
class LastTopics:
    """The topics of a group that has no members now.

    Attributes:
        topics: in RocketMQ's order; empty: the group is known, but not what it read.
        told_by: what tells them, in words.
    """

    topics: tuple[str, ...]
    told_by: str


def last_topics(live: LiveGroup, source: TopicSource) -> LastTopics | None:
    """Return what a group without members last subscribed to; None: nothing tells it.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
    """
    group = live.core.state.group
    assigned = {entry.queue.topic for held in live.assigned.values() for entry in held.entries}
    if assigned:
        return _sorted(assigned, "the assignments of its last members")
    life = last_life(source, group)
    if life:
        moved = {move.queue.topic for decision in life for move in decision.moves}
        return _sorted(moved, f"its decisions up to {life[-1].epoch}")
    committed = {
        queue.topic
        for queue, measure in live.observed.positions.queues.items()
        if measure.position is not None
    }
    return _sorted(committed, "its commits") if committed else None


def _sorted(topics: set[str], told_by: str) -> LastTopics:
    return LastTopics(tuple(sorted(topics, key=java_order)), told_by)
