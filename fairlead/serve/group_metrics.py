"""The metrics of groups: a Prometheus collector that reads a snapshot at each scrape.

No label names a client. Queues are named only for the groups of a setting. Groups without a place
of their own count together as ``__other__``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from fairlead.observed.counters import GroupCounters
from fairlead.observed.group_metrics import GroupFigures
from fairlead.observed.group_standing import GroupStanding
from fairlead.observed.queue_standing import QueueStanding
from fairlead.observed.snapshot import Snapshot
from fairlead.serve.folded_groups import folded
from fairlead.serve.group_families import LABELS, families

__all__ = ["GroupMetrics"]

_MS: Final = 1_000


class GroupMetrics(Collector):
    """The metrics of groups, from a snapshot at each scrape.

    :mod:`fairlead.serve.group_families` lists the families.
    """

    def __init__(self, snapshot: Callable[[], Snapshot | None]) -> None:
        """Take the source of snapshots; it returns None while there is nothing to tell."""
        self._snapshot = snapshot

    def describe(self) -> Iterable[Metric]:
        """Return all families without samples."""
        return families().values()

    def collect(self) -> Iterator[Metric]:
        """Yield all families."""
        snapshot = self._snapshot()
        if snapshot is None:
            return
        metrics = families()
        named = snapshot.counters.named
        others = []
        for figures in snapshot.figures:
            if figures.summary.group in named:
                _add_group(metrics, figures)
            else:
                others.append(figures)
        if others:
            for name, labels, value in folded(others):
                _add(metrics, name, labels, value)
        for name, view in snapshot.in_detail.items():
            _add_queues(metrics, name, view)
        _add(metrics, "metrics_groups_folded", {}, len(others))
        _add(metrics, "view_failures_total", {"kind": "record"}, snapshot.passed_over)
        _add(metrics, "view_failures_total", {"kind": "group"}, snapshot.failed)
        _add_counts(metrics, snapshot.counters)
        _add_times(metrics, snapshot.counters)
        yield from metrics.values()


def _add(
    metrics: Mapping[str, Metric], name: str, labels: dict[str, str], value: float | None
) -> None:
    """Add a sample, unless its value is unknown."""
    assert labels.keys() == LABELS[name], f"{name} has the labels {sorted(LABELS[name])}"
    if value is not None:
        metrics[name].add_sample(f"fairlead_{name}", labels, value)


def _add_group(metrics: Mapping[str, Metric], figures: GroupFigures) -> None:
    summary, group = figures.summary, {"group": figures.summary.group}
    words = {"strategy": summary.strategy, "mode": summary.mode}
    _add(metrics, "group_info", group | words | {"message_model": summary.model}, 1)
    _add(metrics, "group_phase", group | {"phase": summary.phase}, 1)
    _add(metrics, "group_members", group, summary.members)
    _add(metrics, "group_members_idle", group, summary.members_idle)
    _add(metrics, "group_queues_in_handover", group | {"state": "draining"}, summary.ungranted)
    _add(metrics, "group_queues_in_handover", group | {"state": "gated"}, summary.gated)
    _add(metrics, "group_queues_unsafe", group, summary.unsafe)
    _add(metrics, "group_converged", group, int(summary.converged))
    _add(metrics, "group_epoch", group, 0 if summary.epoch is None else summary.epoch.number)
    _add(metrics, "group_generation", group, figures.generation)
    _add(metrics, "group_assignment_skew", group, summary.skew)
    _add(metrics, "subscription_mismatch", group, int(figures.disagree))
    decided_ms = figures.decided_ms
    if decided_ms is not None:
        _add(metrics, "group_last_decision_timestamp_seconds", group, decided_ms / _MS)
    for alarm in dict.fromkeys(summary.alarms):
        _add(metrics, "group_alarm", group | {"alarm": alarm}, 1)
    for each in figures.topics:
        of_topic = group | {"topic": each.topic}
        _add(metrics, "group_queues", of_topic, each.queues)
        _add(metrics, "group_queues_unassigned", of_topic, each.unassigned)
        _add(metrics, "group_lag_messages", of_topic, each.lag_messages)
        _add(metrics, "group_lag_seconds", of_topic, _seconds(each.lag_ms))


def _add_queues(metrics: Mapping[str, Metric], group: str, view: GroupStanding) -> None:
    for queue in view.queues:
        labels = _labels_of(group, queue)
        since_ms = queue.owner_since_ms
        _add(metrics, "queue_lag_messages", labels, queue.place.lag)
        _add(metrics, "queue_lag_seconds", labels, _seconds(queue.place.lag_ms))
        if since_ms is not None and queue.owner is not None:
            _add(metrics, "queue_owner_since_timestamp_seconds", labels, since_ms / _MS)


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


def _add_counts(metrics: Mapping[str, Metric], counters: GroupCounters) -> None:
    by_trigger = {
        "rebalances_total": counters.rebalances,
        "queue_moves_total": counters.moves,
        "queue_moves_minimum_total": counters.fewest_moves,
    }
    for name, counts in by_trigger.items():
        for (group, trigger), number in sorted(_by_pair(counts, counters).items()):
            _add(metrics, name, {"group": group, "trigger": trigger}, number)
    for (group, why), number in sorted(_by_pair(counters.fallbacks, counters).items()):
        _add(metrics, "offset_fallbacks_total", {"group": group, "why": why}, number)
    by_group = {
        "handover_timeouts_total": counters.handover_timeouts,
        "overlap_violations_total": counters.overlaps,
        "fenced_commits_total": counters.fenced,
        "client_expirations_total": counters.expirations,
        "client_id_conflicts_total": counters.conflicts,
    }
    for name, singles in by_group.items():
        for group, number in sorted(_by_group(singles, counters).items()):
            _add(metrics, name, {"group": group}, number)


def _by_pair(
    counts: Mapping[tuple[str, str], int], counters: GroupCounters
) -> Counter[tuple[str, str]]:
    """Return all counts but 0; groups without a place of their own are summed up."""
    totals: Counter[tuple[str, str]] = Counter()
    for (group, word), number in counts.items():
        place = counters.label_of(group)
        if number and place is not None:
            totals[place, word] += number
    return totals


def _by_group(counts: Mapping[str, int], counters: GroupCounters) -> Counter[str]:
    totals: Counter[str] = Counter()
    for group, number in counts.items():
        place = counters.label_of(group)
        if number and place is not None:
            totals[place] += number
    return totals


def _add_times(metrics: Mapping[str, Metric], counters: GroupCounters) -> None:
    phases, gaps = metrics["rebalance_phase_seconds"], metrics["handover_gap_seconds"]
    assert isinstance(phases, HistogramMetricFamily), "it is listed as one"
    assert isinstance(gaps, HistogramMetricFamily), "it is listed as one"
    for phase, times in counters.phases.items():
        phases.add_metric([phase], times.buckets(), times.sum_seconds)
    gaps.add_metric([], counters.gaps.buckets(), counters.gaps.sum_seconds)
