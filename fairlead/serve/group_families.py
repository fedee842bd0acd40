"""The metrics that ``fairlead serve`` has of groups: every family, with its labels and its text.

docs/metrics.md is made from this list.
"""

from typing import Final, NamedTuple

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

__all__ = ["COUNTERS", "GAUGES", "HISTOGRAMS", "LABELS", "Family", "families", "family"]

_METRICS: Final = {
    "gauge": GaugeMetricFamily,
    "counter": CounterMetricFamily,
    "histogram": HistogramMetricFamily,
}


class Family(NamedTuple):
    """One family: its full name, ``gauge``, ``counter`` or ``histogram``, and its meaning."""

    name: str
    kind: str
    labels: tuple[str, ...]
    text: str


def _gauge(name: str, labels: str, text: str) -> Family:
    return Family(f"fairlead_{name}", "gauge", tuple(labels.split()), text)


def _counter(name: str, labels: str, text: str) -> Family:
    return Family(f"fairlead_{name}_total", "counter", tuple(labels.split()), text)


def _histogram(name: str, labels: str, text: str) -> Family:
    return Family(f"fairlead_{name}_seconds", "histogram", tuple(labels.split()), text)


GAUGES: Final = (
    _gauge(
        "group_info",
        "group strategy mode message_model",
        "Constant 1: the strategy in force; cooperative or eager; clustering or broadcasting.",
    ),
    _gauge(
        "group_phase",
        "group phase",
        "1 for the phase of the group in its newest decision (unknown: members await one).",
    ),
    _gauge("group_members", "group", "Client ids that are live and do not leave."),
    _gauge(
        "group_members_idle",
        "group",
        "Live members that own no queue, although they subscribe and no rule keeps them from it.",
    ),
    _gauge("group_queues", "group topic", "Readable queues of a topic that members subscribe to."),
    _gauge(
        "group_queues_unassigned",
        "group topic",
        "Of these, queues that nobody holds and nobody is granted.",
    ),
    _gauge(
        "group_queues_in_handover",
        "group state",
        "Queues on their way: draining (to be given up, nobody is granted them yet) or gated (the"
        " successor waits for the release).",
    ),
    _gauge(
        "group_queues_unsafe",
        "group",
        "Queues granted while somebody who was not waited for may still work on them, as mode or"
        " on_mute allows; in the newest decision.",
    ),
    _gauge(
        "group_converged",
        "group",
        "1 if nothing is on its way (stable, empty or paused) and each live member holds exactly"
        " its assignment, by its digest; else 0.",
    ),
    _gauge("group_epoch", "group", "The number of the newest decision's epoch."),
    _gauge("group_generation", "group", "The generation of the newest decision's epoch."),
    _gauge(
        "group_assignment_skew",
        "group",
        "Most queues of a member less fewest, among the members that could own one.",
    ),
    _gauge("group_alarm", "group alarm", "1 for each alarm of the newest decision."),
    _gauge(
        "group_last_decision_timestamp_seconds",
        "group",
        "When the newest decision was appended, Unix time.",
    ),
    _gauge(
        "subscription_mismatch",
        "group",
        "1 if live members differ in what a group agrees on: message model, where to begin, order,"
        " the expression of a topic; else 0.",
    ),
    _gauge(
        "group_lag_messages",
        "group topic",
        "Messages that are not processed yet, over the queues with a known position and end;"
        " also of a group without members.",
    ),
    _gauge(
        "group_lag_seconds",
        "group topic",
        "How long ago the end of the queue that is furthest behind was where its position is now:"
        " an estimate between samples of the end, and at least so long where they do not reach"
        " back; 0 if nothing is left.",
    ),
    _gauge(
        "queue_lag_messages",
        "group topic broker_name queue_id",
        "Messages of a queue that are not processed yet; of the groups of serve.queue_series.",
    ),
    _gauge(
        "queue_lag_seconds",
        "group topic broker_name queue_id",
        "The same as group_lag_seconds, of a single queue; of the groups of serve.queue_series.",
    ),
    _gauge(
        "queue_owner_since_timestamp_seconds",
        "group topic broker_name queue_id",
        "When the decision was appended that granted the queue to the client that owns it, Unix"
        " time; of the groups of serve.queue_series.",
    ),
    _gauge(
        "metrics_groups_folded",
        "",
        "Groups beyond serve.max_groups, told together as group __other__: counts as sums, times"
        " and skew as the greatest, group_converged as the least; that, queues_unassigned and"
        " members_idle without groups that are paused, in quarantine, or wait. A group keeps its"
        " place.",
    ),
)
"""The present state."""

COUNTERS: Final = (
    _counter(
        "rebalances",
        "group trigger",
        "Decisions, once for each of their triggers.",
    ),
    _counter(
        "queue_moves",
        "group trigger",
        "Queues that a decision gave to another client than had them, by its first trigger.",
    ),
    _counter(
        "queue_moves_minimum",
        "group trigger",
        "Of the same decisions, the fewest moves that give an even share by number of queues to"
        " those who own any; never more than were made.",
    ),
    _counter(
        "handover_timeouts",
        "group",
        "Dropped queues whose holder lapsed, or became mute, before it released them.",
    ),
    _counter(
        "overlap_violations",
        "group",
        "Queues assigned to two live members at once, where the mode forbids it.",
    ),
    _counter(
        "fenced_commits",
        "group",
        "Releases and progress appended under an epoch that was over: the grant was resolved.",
    ),
    _counter("client_expirations", "group", "Clients taken for dead (client_expired)."),
    _counter(
        "client_id_conflicts",
        "group",
        "Pairs of processes with one client id that got a notice about each other.",
    ),
    _counter(
        "offset_fallbacks",
        "group why",
        "Grants of queues whose position nobody had told, by the why of their start.",
    ),
    _counter(
        "view_failures",
        "kind",
        "Records of Fairlead's topics that the view could not take in and has passed over (record),"
        " and looks at a group that failed (group). Not 0: something else writes the topics, or"
        " fairlead serve has a defect, and what it tells of a group may be wrong.",
    ),
)
"""What has happened since the topics were followed; a group's zeros are left out.

``view_failures`` counts from the first record that was read.
"""

HISTOGRAMS: Final = (
    _histogram(
        "rebalance_phase",
        "phase",
        "Of decisions that moved queues. detect: from the first record that caused it (of a lapse,"
        " the last heartbeat) to the newest that it had read; decide: from there to the decision;"
        " release: of each queue, from the drop to its release; converge: from the decision to the"
        " heartbeat with which all members hold their assignments.",
    ),
    _histogram(
        "handover_gap",
        "",
        "Of each queue released at a position, from its release to the first word of its successor"
        " that it works: nobody consumed it for so long, or less.",
    ),
)
"""How long things took, over all groups."""


LABELS: Final = {
    entry.name.removeprefix("fairlead_"): frozenset(entry.labels)
    for entry in (*GAUGES, *COUNTERS, *HISTOGRAMS)
}
"""The labels of each family, by its name after ``fairlead_``."""


def family(entry: Family) -> Metric:
    """Return a family without samples."""
    name = entry.name.removesuffix("_total")
    made: Metric = _METRICS[entry.kind](name, entry.text, labels=entry.labels)
    return made


def families() -> dict[str, Metric]:
    """Return all families without samples, by their names after ``fairlead_``."""
    every = (*GAUGES, *COUNTERS, *HISTOGRAMS)
    return {entry.name.removeprefix("fairlead_"): family(entry) for entry in every}
