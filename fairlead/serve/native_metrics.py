"""The metrics of native groups: a Prometheus collector that asks the view at each scrape.

No label names a member or a queue. Each cluster has places for as many groups as serve.max_groups
says, the first by name.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from fairlead.native.native_view import NativeGroupSeen, NativeView
from fairlead.serve.group_families import family
from fairlead.serve.native_families import NATIVE_FAMILIES

__all__ = ["NativeMetrics"]


class NativeMetrics(Collector):
    """The metrics of a view.

    Args:
        view: what is known of native groups.
        most: how many groups of a cluster have series.
    """

    def __init__(self, view: NativeView, most: int) -> None:
        self._view, self._most = view, most

    def describe(self) -> Iterable[Metric]:
        """Return all families without samples."""
        return _families().values()

    def collect(self) -> Iterator[Metric]:
        """Yield all families."""
        metrics = _families()

        def add(name: str, labels: dict[str, str], value: float | None) -> None:
            if value is not None:
                metrics[f"fairlead_native_{name}"].add_sample(
                    f"fairlead_native_{name}", labels, value
                )

        taken: Counter[str] = Counter()
        for seen in self._view.groups():
            kind = seen.observed.look.kind
            taken[kind] += 1
            if taken[kind] > self._most:
                continue
            for name, value in _numbers(seen).items():
                add(name, {"native": kind, "group": seen.observed.look.group}, value)
            for problem in dict.fromkeys(each.problem for each in seen.observed.problems):
                labels = {"native": kind, "group": seen.observed.look.group, "problem": problem}
                add("group_problem", labels, 1)
        for source in self._view.sources():
            labels = {"native": source.kind}
            add("groups_folded", labels, max(0, taken[source.kind] - self._most))
            seen_ms = source.seen_ms
            add("last_look_timestamp_seconds", labels, None if seen_ms is None else seen_ms / 1_000)
            add("look_failures_total", labels, source.failures)
            add("servers_unheard", labels, len(source.unheard))
        yield from metrics.values()


def _families() -> Mapping[str, Metric]:
    return {each.name: family(each) for each in NATIVE_FAMILIES}


def _numbers(seen: NativeGroupSeen) -> dict[str, float | None]:
    numbers = seen.observed.look.summary()
    return {
        "group_members": numbers["members"],
        "group_members_idle": numbers["members_idle"],
        "group_queues": numbers["queues"],
        "group_queues_unassigned": numbers["queues_unassigned"],
        "group_queues_shared": numbers["queues_shared"],
        "group_lag_messages": numbers["lag_messages"],
        "group_rebalances_total": seen.rebalances_seen,
        "group_moves_total": seen.moves_seen,
    }
