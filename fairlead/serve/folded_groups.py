"""Many groups told as one: what adds up as a sum, the rest as the worst of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from fairlead.view.figures import GroupFigures
from fairlead.view.happened import OTHER

__all__ = ["folded"]

_GROUP: Final = {"group": OTHER}
_TOPIC: Final = {"group": OTHER, "topic": OTHER}

Sample = tuple[str, dict[str, str], float]
"""The name of a family after ``fairlead_``, the labels, the value."""


def folded(groups: Sequence[GroupFigures]) -> Iterator[Sample]:
    """Yield the samples of these groups together.

    ``group_phase`` tells how many of them are in each phase, ``group_alarm`` how many have it.
    Their strategies and epochs are not told: nothing can be said of them together.
    """
    summaries = [each.summary for each in groups]
    topics = [topic for each in groups for topic in each.topics]
    for phase, number in sorted(Counter(each.phase for each in summaries).items()):
        yield "group_phase", _GROUP | {"phase": phase}, number
    alarms = Counter(alarm for each in summaries for alarm in dict.fromkeys(each.alarms))
    for alarm, number in sorted(alarms.items()):
        yield "group_alarm", _GROUP | {"alarm": alarm}, number
    yield "group_members", _GROUP, sum(each.members for each in summaries)
    yield "group_members_idle", _GROUP, sum(each.members_idle for each in summaries)
    handover = {"draining": sum(g.draining for g in groups), "gated": sum(g.gated for g in groups)}
    for phase, number in handover.items():
        yield "group_queues_in_handover", _GROUP | {"phase": phase}, number
    yield "group_queues_unsafe", _GROUP, sum(each.unsafe for each in summaries)
    yield "group_converged", _GROUP, min(int(each.converged) for each in summaries)
    yield "group_generation", _GROUP, max(each.generation for each in groups)
    yield "group_assignment_skew", _GROUP, max(each.skew for each in summaries)
    yield "subscription_mismatch", _GROUP, max(int(each.disagree) for each in groups)
    decided_ms = [each.decided_ms for each in groups if each.decided_ms is not None]
    if decided_ms:
        yield "group_last_decision_timestamp_seconds", _GROUP, max(decided_ms) / 1_000
    yield "group_queues", _TOPIC, sum(each.queues for each in topics)
    yield "group_queues_unassigned", _TOPIC, sum(each.unassigned for each in topics)
    messages = [each.lag_messages for each in topics if each.lag_messages is not None]
    seconds = [each.lag_seconds for each in topics if each.lag_seconds is not None]
    if messages:
        yield "group_lag_messages", _TOPIC, sum(messages)
    if seconds:
        yield "group_lag_seconds", _TOPIC, max(seconds)
