"""Refuses a drain that leaves queues without a reader."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairlead.counts import counted, listed
from fairlead.errors import RefusedError

if TYPE_CHECKING:
    from fairlead.core.records import RuleSet
    from fairlead.observed.planned_group import PlannedGroup

__all__ = ["require_readers"]


def require_readers(planned: "PlannedGroup", rules: "Sequence[RuleSet]") -> None:
    """Refuse a drain that takes the last reader from a queue.

    Args:
        planned: the group as it is.
        rules: the rules that change something.

    Raises:
        RefusedError: a queue loses its last reader; the message counts them by topic.
    """
    from fairlead.planning.unread_queues import left_unread

    unread = left_unread(planned, rules)
    if unread:
        queues = [f"{counted(number, 'queue')} of {topic}" for topic, number in unread.items()]
        raise RefusedError(
            f"{planned.state.group}: nobody would read {listed(queues)}; nothing is written.",
            remedy="Start another client first, or insist with --leave-unread.",
        )
