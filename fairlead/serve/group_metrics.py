"""The numbers of groups for Prometheus: a collector that reads a snapshot at each scrape.

Decides nothing but how what a snapshot says is told. No label names a client; queues are named for
groups that ask for it alone; groups without a place of their own are told as ``__other__``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from fairlead.observed.counters import Happened
from fairlead.observed.group_metrics import GroupFigures
from fairlead.observed.group_standing import GroupStanding
from fairlead.observed.queue_standing import QueueStanding
from fairlead.observed.snapshot import Snapshot
from fairlead.serve.folded_groups import folded
from fairlead.serve.group_families import families

__all__ = ["GroupMetrics"]

_MS: Final = 1_000


class GroupMetrics(Collector):
    """The families of groups, of what a snapshot says at each scrape.

    They are listed in :mod:`fairlead.serve.group_families`.
    """

    def __init__(self, snapshot: Callable[[], Snapshot | None]) -> None:
        """Read snapshots from here; None: there is nothing to tell yet."""
        self._snapshot = snapshot

    def describe(self) -> Iterable[Metric]:
        """Return all families without samples."""
        return families().values()

    def collect(self) -> Iterator[Metric]:
        """Yield all families."""
        snapshot = self._snapshot()
        if snapshot is None:
            return
        told = families()
        named = snapshot.happened.named
        others = []
        for figures in snapshot.figures:
            if figures.summary.group in named:
                _tell_group(told, figures)
            else:
                others.append(figures)
        if others:
            for name, labels, value in folded(others):
                told[name].add_sample(f"fairlead_{name}", labels, value)
        for name, view in snapshot.in_detail.items():
            _tell_queues(told, name, view)
        _add(told, "metrics_groups_folded", {}, len(others))
        _add(told, "view_failures_total", {"kind": "record"}, snapshot.passed_over)
        _add(told, "view_failures_total", {"kind": "group"}, snapshot.failed)
        _tell_counts(told, snapshot.happened)
        _tell_times(told, snapshot.happened)
        yield from told.values()


def _add(
    told: Mapping[str, Metric], name: str, labels: dict[str, str], value: float | None
) -> None:
    """Add a sample; one whose value is not known is left out."""
    if value is not None:
        told[name].add_sample(f"fairlead_{name}", labels, value)


def _tell_group(told: Mapping[str, Metric], figures: GroupFigures) -> None:
    summary, group = figures.summary, {"group": figures.summary.group}
    words = {"strategy": summary.strategy, "mode": summary.mode}
    _add(told, "group_info", group | words | {"message_model": summary.model}, 1)
    _add(told, "group_phase", group | {"phase": summary.phase}, 1)
    _add(told, "group_members", group, summary.members)
    _add(told, "group_members_idle", group, summary.members_idle)
    _add(told, "group_queues_in_handover", group | {"state": "draining"}, summary.draining)
    _add(told, "group_queues_in_handover", group | {"state": "gated"}, summary.gated)
    _add(told, "group_queues_unsafe", group, summary.unsafe)
    _add(told, "group_converged", group, int(summary.converged))
    _add(told, "group_epoch", group, 0 if summary.epoch is None else summary.epoch.number)
    _add(told, "group_generation", group, figures.generation)
    _add(told, "group_assignment_skew", group, summary.skew)
    _add(told, "subscription_mismatch", group, int(figures.disagree))
    decided_ms = figures.decided_ms
    if decided_ms is not None:
        _add(told, "group_last_decision_timestamp_seconds", group, decided_ms / _MS)
    for alarm in dict.fromkeys(summary.alarms):
        _add(told, "group_alarm", group | {"alarm": alarm}, 1)
    for each in figures.topics:
        of_topic = group | {"topic": each.topic}
        _add(told, "group_queues", of_topic, each.queues)
        _add(told, "group_queues_unassigned", of_topic, each.unassigned)
        _add(told, "group_lag_messages", of_topic, each.lag_messages)
        _add(told, "group_lag_seconds", of_topic, _seconds(each.lag_ms))


def _tell_queues(told: Mapping[str, Metric], group: str, view: GroupStanding) -> None:
    for queue in view.queues:
        labels = _labels_of(group, queue)
        since_ms = queue.owner_since_ms
        _add(told, "queue_lag_messages", labels, queue.place.lag)
        _add(told, "queue_lag_seconds", labels, _seconds(queue.place.lag_ms))
        if since_ms is not None and queue.owner is not None:
            _add(told, "queue_owner_since_timestamp_seconds", labels, since_ms / _MS)


def _seconds(waited_ms: int | None) -> float | None:
    return None if waited_ms is None else waited_ms / _MS


def _labels_of(group: str, queue: QueueStanding) -> dict[str, str]:
    topic, broker_name, queue_id = queue.queue
    return {
        "group": group,
        "topic": topic,
        "broker_name": broker_name,
        "queue_id": str(queue_id),
    }


def _tell_counts(told: Mapping[str, Metric], happened: Happened) -> None:
    by_trigger = {
        "rebalances_total": happened.rebalances,
        "queue_moves_total": happened.moves,
        "queue_moves_minimum_total": happened.fewest_moves,
    }
    for name, counts in by_trigger.items():
        for (group, trigger), number in sorted(_by_pair(counts, happened).items()):
            _add(told, name, {"group": group, "trigger": trigger}, number)
    for (group, why), number in sorted(_by_pair(happened.fallbacks, happened).items()):
        _add(told, "offset_fallbacks_total", {"group": group, "why": why}, number)
    by_group = {
        "handover_timeouts_total": happened.handover_timeouts,
        "overlap_violations_total": happened.overlaps,
        "fenced_commits_total": happened.fenced,
        "client_expirations_total": happened.expirations,
        "client_id_conflicts_total": happened.conflicts,
    }
    for name, singles in by_group.items():
        for group, number in sorted(_by_group(singles, happened).items()):
            _add(told, name, {"group": group}, number)


def _by_pair(counts: Mapping[tuple[str, str], int], happened: Happened) -> Counter[tuple[str, str]]:
    """Return what is not 0, with the groups that have no place of their own together."""
    found: Counter[tuple[str, str]] = Counter()
    for (group, word), number in counts.items():
        place = happened.place_of(group)
        if number and place is not None:
            found[place, word] += number
    return found


def _by_group(counts: Mapping[str, int], happened: Happened) -> Counter[str]:
    found: Counter[str] = Counter()
    for group, number in counts.items():
        place = happened.place_of(group)
        if number and place is not None:
            found[place] += number
    return found


def _tell_times(told: Mapping[str, Metric], happened: Happened) -> None:
    phases, gaps = told["rebalance_phase_seconds"], told["handover_gap_seconds"]
    assert isinstance(phases, HistogramMetricFamily), "it is listed as one"
    assert isinstance(gaps, HistogramMetricFamily), "it is listed as one"
    for phase, times in happened.phases.items():
        phases.add_metric([phase], times.buckets(), times.sum_seconds)
    gaps.add_metric([], happened.gaps.buckets(), happened.gaps.sum_seconds)
