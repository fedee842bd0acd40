"""How long the view of all groups takes: to read, to list, to tell Prometheus.

    python -m benchmarks.view [--groups 2000] [--members 10] [--queues 64]

Everything is in one process and in memory: no broker, but the real view, and the real text of
Prometheus. Times are the thread's own processor time, so that they hardly depend on what else the
machine does.
"""

import argparse
import gc
import resource
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from prometheus_client import CollectorRegistry, generate_latest

from benchmarks.view_load import NAMES, PARTITIONS, START_MS, GroupsLoad
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.serve.group_metrics import GroupMetrics
from fairlead.serve.shared_view import GARBAGE_THRESHOLDS
from fairlead.wire.raw import RawRecord

_DAY_MS: Final = 86_400_000
_POLLED: Final = 1_000
"""So many rows are taken at once."""
_SECONDS_TOLD: Final = 20


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=2_000)
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--queues", type=int, default=64)
    asked = parser.parse_args(arguments)
    load = GroupsLoad(asked.groups, asked.members, asked.queues)
    view = ObservedGroups(NAMES, PARTITIONS, _DAY_MS)
    _say("memory before", f"{_memory_mib():,} MiB")
    _take(view, "routes", load.routes())
    _take(view, "decisions", load.decisions())
    _take(view, "assignments", load.assignments())
    _take(view, "heartbeats, the first", load.heartbeats(START_MS))
    _take(view, "heartbeats, the next", load.heartbeats(START_MS + 3_000))
    _timed("groups(), the first time", view.groups)
    view.follow()
    gc.freeze()  # as fairlead serve does
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    for second in range(_SECONDS_TOLD):
        at_ms = START_MS + 6_000 + second * 1_000
        rows = load.progress(at_ms, 9_200 + second * 100)
        if second in (0, _SECONDS_TOLD - 1):
            _take(view, f"progress, second {second + 1}", rows)
        else:
            view.apply(list(rows))
        if second % 3 == 0:
            view.apply(list(load.heartbeats(at_ms)))
    _timed("groups(), all have worked", view.groups)
    _timed("groups(), nobody has", view.groups)
    _take(view, "decisions, followed", load.decisions())
    _timed("group() of one", lambda: view.group(load.names()[0]))
    snapshot = _timed("snapshot(2000)", lambda: view.snapshot(2_000))
    registry = CollectorRegistry()
    registry.register(GroupMetrics(lambda: snapshot))
    text = _timed("generate_latest", lambda: generate_latest(registry))
    _say("/metrics of groups", f"{len(text) / 1e6:.1f} MB, {len(text.splitlines()):,} lines")
    _say("memory after", f"{_memory_mib():,} MiB (with the rows of the load)")
    return 0


def _take(view: ObservedGroups, what: str, rows: Iterable[RawRecord]) -> None:
    made = list(rows)
    began = time.thread_time()
    for first in range(0, len(made), _POLLED):
        view.apply(made[first : first + _POLLED])
    seconds = time.thread_time() - began
    each = f"{seconds / len(made) * 1e6:.1f} µs each"
    _say(what, f"{len(made):,} rows in {seconds:.2f} s, {each}")


def _timed(what: str, asked: Callable[[], Any]) -> Any:
    began = time.thread_time()
    answer = asked()
    _say(what, f"{(time.thread_time() - began) * 1e3:.0f} ms")
    return answer


def _memory_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _say(what: str, figure: str) -> None:
    sys.stdout.write(f"{what:28} {figure}\n")


if __name__ == "__main__":
    sys.exit(main())
