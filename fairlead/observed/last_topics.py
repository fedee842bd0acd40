"""What a group without members subscribed to while it had some: who joins it is planned with that.

Decides what counts, the nearest first: the sets of its last members, where the engine has not taken
them yet; the queues that its decisions moved since it was last without members; the topics in which
a bridge has seen it commit. A topic that it gave up in the middle of its last life counts too: no
record says what a group without members would subscribe to.
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
        topics: in RocketMQ's order; none: the group is known, and what it read is not.
        told_by: where that is known from, in words.
    """

    topics: tuple[str, ...]
    told_by: str


def last_topics(live: LiveGroup, source: TopicSource) -> LastTopics | None:
    """Return what a group without members subscribed to; None: nothing tells of it.

    Raises:
        EnvironmentMissingError: a topic cannot be read.
    """
    group = live.core.state.group
    told = {entry.queue.topic for held in live.assigned.values() for entry in held.entries}
    if told:
        return _sorted(told, "what its last members were told to hold")
    life = last_life(source, group)
    if life:
        moved = {move.queue.topic for decision in life for move in decision.moves}
        return _sorted(moved, f"its decisions up to {life[-1].epoch}")
    committed = {
        queue.topic
        for queue, measure in live.observed.positions.queues.items()
        if measure.position is not None
    }
    return _sorted(committed, "what it has committed") if committed else None


def _sorted(topics: set[str], told_by: str) -> LastTopics:
    return LastTopics(tuple(sorted(topics, key=java_order)), told_by)
