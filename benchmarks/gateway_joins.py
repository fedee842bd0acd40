"""Joins through a gateway beside direct ones, in one run on the real broker and job.

Two groups of as many clients share a topic's queues, one directly and one through a gateway. In
turns a client of each leaves and joins again; a join is over when every queue that it moved is at
its position at its final owner.

    python -m benchmarks.gateway_joins [--clients 20] [--queues 200] [--rounds 30] [--check]
"""

import argparse
import contextlib
import random
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from fairlead_proof.bench.changes import Change
from fairlead_proof.bench.crew import Crew
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


def measure(clients: int, queues: int, rounds: int) -> dict[str, list[Change]]:
    """Return the changes of each group."""
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
    return changes


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


def _ms(changes: Sequence[Change], kind: str) -> list[float]:
    return sorted(each.total_ms for each in changes if each.kind == kind)


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
    changes = measure(arguments.clients, arguments.queues, arguments.rounds)
    for kind in ("join", "leave"):
        for way, found in changes.items():
            times = summarise(_ms(found, kind))
            sys.stdout.write(f"{kind}, {way}: p50 {times.p50:.0f} ms, p95 {times.p95:.0f} ms\n")
    through, direct = (summarise(_ms(changes[way], "join")) for way in ("gateway", "direct"))
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
