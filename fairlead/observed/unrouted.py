"""Which topics of a group should have a route and have none: for plans, lists and checks."""

from collections.abc import Container

from fairlead.core.membership.members import shared_topics
from fairlead.core.rules.group_rules import GroupRules
from fairlead.core.state import GroupState
from fairlead.core.topics.retry_topic import is_awaited

__all__ = ["lacks_route", "unrouted_topics"]


def unrouted_topics(state: GroupState, rules: GroupRules) -> tuple[str, ...]:
    """Return the topics whose queues the group shares and that lack a route."""
    return tuple(
        topic
        for topic in shared_topics(state)
        if lacks_route(state.group, topic, state.routes, rules)
    )


def lacks_route(group: str, topic: str, routes: Container[str], rules: GroupRules) -> bool:
    """Tell whether a topic should have a route for this group and has none.

    The group's own retry topic lacks none unless a rule has it created beforehand: it does not
    exist until a message has failed, and nobody misses it.
    """
    return topic not in routes and is_awaited(group, topic, rules.retry_topics)
