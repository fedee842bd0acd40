"""Finds drains that take the last reader of a topic."""

from collections import Counter
from collections.abc import Mapping, Sequence

from fairlead.core.records import RuleSet
from fairlead.observed.forecast import forecast
from fairlead.observed.planned_group import PlannedGroup

__all__ = ["left_unread"]


def left_unread(before: PlannedGroup, rules: Sequence[RuleSet]) -> Mapping[str, int]:
    """Return how many queues of each topic would lose their last reader by some rules.

    Queues without an owner now do not count. The result is empty without a drain: other rules say
    themselves that they keep clients away.

    Args:
        before: the group.
        rules: those that would change something, as the engine reads them.

    Raises:
        RefusedRecordError: the engine would reject one of them.
    """
    if not any(rule.rule == "drain" and rule.value is not None for rule in rules):
        return {}
    now = {*forecast(before).orphans(before)}
    after = forecast(before, rules).orphans(before)
    return dict(Counter(queue.topic for queue in after if queue not in now))
