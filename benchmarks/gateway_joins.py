"""Joins through a gateway beside direct ones, in one run on the real broker and job.

Two groups of as many clients share a topic's queues, one directly and one through a gateway. In
turns a client of each leaves and joins again; a join is over when every queue that it moved is at
its position at its final owner. The hops of the joins tell where the time goes: what is the
engine's is not cut into waiting and batch.

    python -m benchmarks.gateway_joins [--clients 20] [--queues 200] [--rounds 30] [--check]
"""

import argparse
import contextlib
import random
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Final, NamedTuple

from fairlead_proof.bench.changes import Change, LogTimes, cut
from fairlead_proof.bench.crew import Crew
from fairlead_proof.bench.log_times import read_log_times
from fairlead_proof.bench.measurement import Measurement
from fairlead_proof.bench.percentiles import summarise
from fairlead_proof.local.follower import DecisionFollower
from fairlead_proof.local.gateways import Gateways
from fairlead_proof.local.system import LocalSystem, SystemPlan

from fairlead.wire.decision_records import DecisionRecord

MORE_MS_MAX: Final = 30.0
"""By so much a join through a gateway may take longer, in the median."""
_PREFIX: Final = "fairlead."
_WARM_UP: Final = 2


class Way(NamedTuple):
    """The changes of one group, and when its records were appended."""

    changes: list[Change]
    log: LogTimes

    def ms(self, kind: str) -> list[float]:
        """Return how long the changes of a kind took."""
        return sorted(each.total_ms for each in self.changes if each.kind == kind)

    def hops(self, kind: str) -> dict[str, float]:
        """Return the mean of each hop of the changes of a kind, and of their decisions."""
        found = [cut(each, self.log, 0.0) for each in self.changes if each.kind == kind]
        names = ("asking", "waiting", "releasing", "taking", "decisions")
        return {name: mean(getattr(each, name) for each in found) for name in names}


def measure(clients: int, queues: int, rounds: int) -> dict[str, Way]:
    """Return what each group did."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        plan = SystemPlan(folder, None, _PREFIX, "orders", queues, {})
        system = stack.enter_context(LocalSystem(plan, _say))
        system.start_broker()
        system.make_topics()
        system.start_bridge()
        system.start_engine()
        gateways = stack.enter_context(Gateways(system, 1))
        system.await_engine()
        gateways.await_ready(0)
        ways: dict[str, Mapping[str, str]] = {"direct": {}, "gateway": {"gateway": gateways.url}}
        groups = {way: _group(stack, system, way, own) for way, own in ways.items()}
        for way, group in groups.items():
            _say(f"{clients} clients join: {way}")
            group.gather([f"{way}-{number:02}" for number in range(clients)])
        chance = random.Random(1)
        changes: dict[str, list[Change]] = {way: [] for way in groups}
        for number in range(_WARM_UP + rounds):
            for way, group in groups.items():
                found = group.rounds(1, chance)
                if number >= _WARM_UP:
                    changes[way] += found
        return {
            way: Way(found, read_log_times(system.bootstrap, _PREFIX, way))
            for way, found in changes.items()
        }


def _group(
    stack: contextlib.ExitStack, system: LocalSystem, way: str, own: Mapping[str, str]
) -> Measurement:
    condition = threading.Condition()
    folder = system.plan.folder / way
    folder.mkdir()
    arguments = {
        "bootstrap": system.bootstrap, "prefix": _PREFIX, "group": way,
        "topic": system.plan.source, **own,
    }  # fmt: skip
    crew = Crew(folder, arguments, condition)
    stack.callback(crew.stop)
    decisions: list[DecisionRecord] = []
    follower = DecisionFollower(
        system.bootstrap,
        f"{_PREFIX}decisions",
        way,
        condition=condition,
        on_decision=decisions.append,
    )
    stack.enter_context(follower)
    group = Measurement(crew, follower, system, system.plan.partitions)
    group.decisions = decisions
    return group


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> None:
    """Measure, and say whether a gateway costs little."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--queues", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--check", action="store_true", help="exit with 1 if the target fails")
    arguments = parser.parse_args()
    ways = measure(arguments.clients, arguments.queues, arguments.rounds)
    for kind in ("join", "leave"):
        for name, way in ways.items():
            times = summarise(way.ms(kind))
            hops = ", ".join(f"{hop} {took:.1f}" for hop, took in way.hops(kind).items())
            sys.stdout.write(
                f"{kind}, {name}: p50 {times.p50:.0f} ms, p95 {times.p95:.0f} ms ({hops})\n"
            )
    through, direct = (summarise(ways[way].ms("join")) for way in ("gateway", "direct"))
    more = through.p50 - direct.p50
    holds = more <= MORE_MS_MAX
    sys.stdout.write(
        f"{'ok  ' if holds else 'FAIL'} a join takes {more:.0f} ms longer in the median; at most"
        f" {MORE_MS_MAX:.0f}\n"
    )
    if arguments.check and not holds:
        sys.exit(1)


if __name__ == "__main__":
    main()
