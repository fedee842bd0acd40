"""Many groups told as one: sums where numbers add up, else the worst of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from fairlead.observed.counters import OTHER
from fairlead.observed.group_metrics import HELD_PHASES, GroupFigures

__all__ = ["folded"]

_GROUP: Final = {"group": OTHER}
_TOPIC: Final = {"group": OTHER, "topic": OTHER}

Sample = tuple[str, dict[str, str], float]
"""The name of a family after ``fairlead_``, the labels, the value."""


def folded(groups: Sequence[GroupFigures]) -> Iterator[Sample]:
    """Yield the samples of these groups together.

    ``group_phase`` says how many of them are in each phase, ``group_alarm`` how many have each
    alarm. Their strategies and epochs have no common value and are left out. Unrest and ownerless
    queues count only for groups that nothing known holds up: in a sum nobody could tell a queue of
    a paused group from a forgotten one.
    """
    summaries = [each.summary for each in groups]
    topics = [topic for each in groups for topic in each.topics]
    free = [each for each in groups if each.summary.phase not in HELD_PHASES]
    for phase, number in sorted(Counter(each.phase for each in summaries).items()):
        yield "group_phase", _GROUP | {"phase": phase}, number
    alarms = Counter(alarm for each in summaries for alarm in dict.fromkeys(each.alarms))
    for alarm, number in sorted(alarms.items()):
        yield "group_alarm", _GROUP | {"alarm": alarm}, number
    yield "group_members", _GROUP, sum(each.members for each in summaries)
    sharing = [each.summary for each in free if each.summary.model != "broadcasting"]
    yield "group_members_idle", _GROUP, sum(each.members_idle for each in sharing)
    for state, name in (("draining", "ungranted"), ("gated", "gated")):
        number = sum(getattr(each, name) for each in summaries)
        yield "group_queues_in_handover", _GROUP | {"state": state}, number
    yield "group_queues_unsafe", _GROUP, sum(each.unsafe for each in summaries)
    yield "group_converged", _GROUP, _converged(free)
    yield "group_generation", _GROUP, max(each.generation for each in groups)
    yield "group_assignment_skew", _GROUP, max(each.skew for each in summaries)
    yield "subscription_mismatch", _GROUP, max(int(each.disagree) for each in groups)
    decided_ms = [each.decided_ms for each in groups if each.decided_ms is not None]
    if decided_ms:
        yield "group_last_decision_timestamp_seconds", _GROUP, max(decided_ms) / 1_000
    yield "group_queues", _TOPIC, sum(each.queues for each in topics)
    yield "group_queues_unassigned", _TOPIC, _unassigned(free)
    messages = [each.lag_messages for each in topics if each.lag_messages is not None]
    waited_ms = [each.lag_ms for each in topics if each.lag_ms is not None]
    if messages:
        yield "group_lag_messages", _TOPIC, sum(messages)
    if waited_ms:
        yield "group_lag_seconds", _TOPIC, max(waited_ms) / 1_000


def _converged(groups: Sequence[GroupFigures]) -> int:
    """Return 0 if a group with members has not converged; else 1."""
    return min((int(each.summary.converged) for each in groups if each.summary.members), default=1)


def _unassigned(groups: Sequence[GroupFigures]) -> int:
    return sum(topic.unassigned for each in groups for topic in each.topics)
