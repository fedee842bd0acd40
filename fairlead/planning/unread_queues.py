"""Finds and refuses drains that take the last reader of a topic."""

from collections import Counter
from collections.abc import Mapping, Sequence

from fairlead.core.records import RuleSet
from fairlead.counts import counted, listed
from fairlead.errors import RefusedError, Way
from fairlead.observed.forecast import forecast
from fairlead.observed.planned_group import PlannedGroup

__all__ = ["left_unread", "require_readers"]


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


def require_readers(planned: PlannedGroup, rules: Sequence[RuleSet]) -> None:
    """Refuse a drain that takes the last reader from a queue.

    Args:
        planned: the group as it is.
        rules: the rules that change something.

    Raises:
        RefusedError: a queue loses its last reader; the message counts them by topic.
    """
    unread = left_unread(planned, rules)
    if unread:
        queues = [f"{counted(number, 'queue')} of {topic}" for topic, number in unread.items()]
        insist = Way("insist with --leave-unread", 'send "leave_unread": true')
        raise RefusedError(
            f"{planned.state.group}: nobody would read {listed(queues)}; nothing is written.",
            remedy=("Start another client first, or ", insist, "."),
            kind="left_unread",
            field="leave_unread",
        )
