"""Which topics of a group ought to have a route and have none: for plans, lists and checks."""

from fairlead.core.membership import shared_topics
from fairlead.core.retry_topic import is_awaited
from fairlead.core.rules import GroupRules
from fairlead.core.state import GroupState

__all__ = ["unrouted_topics"]


def unrouted_topics(state: GroupState, rules: GroupRules) -> tuple[str, ...]:
    """Return the topics whose queues the group shares and of which no route is known.

    Not the group's own retry topic, unless its rule has it made beforehand: it is not there
    until a message has failed, and nobody misses it.
    """
    return tuple(
        topic
        for topic in shared_topics(state)
        if topic not in state.routes and is_awaited(state.group, topic, rules.retry_topics)
    )
