"""One run of the measurement: everything started, measured, summed up and cleaned up."""

import contextlib
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from fairlead.jars.progress import FetchProgress
from fairlead.kafka.topic_content import read_to_end
from fairlead.settings import load_settings
from fairlead.wire.decision_records import DecisionRecord
from fairlead_proof.bench.batch_clock import BatchClock
from fairlead_proof.bench.changes import Change
from fairlead_proof.bench.crew import Crew
from fairlead_proof.bench.log_times import read_log_times
from fairlead_proof.bench.measurement import GROUP, Measurement
from fairlead_proof.bench.results import Results
from fairlead_proof.bench.starts import StartPlan, measure_starts
from fairlead_proof.local.follower import DecisionFollower
from fairlead_proof.local.processes import processor_seconds
from fairlead_proof.local.system import LocalSystem, SystemPlan
from strategies.registry import USUAL

WARM_UP_ROUNDS: Final = 3
STRATEGIES_BESIDE: Final = (USUAL, "AVG")
"""The strategy that groups have by default, and the one that RocketMQ has by default."""


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What a user can choose.

    Attributes:
        rounds: so many leaves and as many joins.
        clients: how many members the group has.
        queues: how many queues they share.
        crashes: so many clients are killed.
        starts: so many starts of the engine with the archive, and as many without.
        rest_s: how long the engine is watched at rest, in seconds.
        seed: chooses who leaves, and the pauses.
        bootstrap: an existing cluster; None for an embedded broker.
        keep: leave topics and logs behind.
        strategies: clients leave and join under each; what must hold is asked of the first.
    """

    rounds: int
    clients: int
    queues: int
    crashes: int
    starts: int
    rest_s: float
    seed: int
    bootstrap: str | None
    keep: bool
    strategies: tuple[str, ...] = STRATEGIES_BESIDE


def run_bench(
    options: BenchOptions, say: Callable[[str], None], progress: FetchProgress
) -> Results:
    """Measure, and leave nothing behind.

    Raises:
        FairleadError: a part is missing or died, or a change did not come to its end.
    """
    name = f"bench-{time.strftime('%H%M%S')}-{random.SystemRandom().randrange(16**4):04x}"
    with contextlib.ExitStack() as stack:
        plan = SystemPlan(
            folder=stack.enter_context(_folder(say, keep=options.keep)),
            bootstrap=options.bootstrap,
            prefix=f"{name}.",
            source=f"{name}-orders",
            partitions=options.queues,
            settings={},
        )
        system = stack.enter_context(LocalSystem(plan, say, progress))
        system.start_broker()
        system.make_topics()
        if options.bootstrap is not None and not options.keep:
            stack.callback(system.delete_topics)
        starts = {}
        if options.starts:
            say(f"starts: {options.starts} with the class-data archive, {options.starts} without")
            start_plan = StartPlan(
                plan.folder, system.bootstrap, f"{name}-start", options.starts, options.keep
            )
            starts = measure_starts(start_plan, say)
        system.start_bridge()
        system.start_engine()
        system.await_engine()
        return _Bench(options, system, say).run(stack, starts)


class _Bench:
    """The part of a run that has a system."""

    def __init__(
        self, options: BenchOptions, system: LocalSystem, say: Callable[[str], None]
    ) -> None:
        self._options = options
        self._system = system
        self._say = say

    def run(self, stack: contextlib.ExitStack, starts: Mapping[str, Sequence[float]]) -> Results:
        """Gather the clients, measure, watch the engine at rest."""
        options, plan = self._options, self._system.plan
        condition = threading.Condition()
        arguments = {
            "bootstrap": self._system.bootstrap,
            "prefix": plan.prefix,
            "group": GROUP,
            "topic": plan.source,
        }
        crew = Crew(plan.folder, arguments, condition)
        stack.callback(crew.stop)
        decisions: list[DecisionRecord] = []
        follower = DecisionFollower(
            self._system.bootstrap,
            f"{plan.prefix}decisions",
            GROUP,
            condition=condition,
            on_decision=decisions.append,
        )
        stack.enter_context(follower)
        measurement = Measurement(crew, follower, self._system, options.queues)
        measurement.decisions = decisions
        self._say(f"clients: {options.clients} processes join, {options.queues} queues")
        measurement.gather([f"m{number:02}" for number in range(options.clients)])
        chance = random.Random(options.seed)  # noqa: S311 - reproducible, not secret
        first, *others = options.strategies
        measurement.rule(first)
        self._say(f"warming up: {WARM_UP_ROUNDS} leaves and joins, not counted")
        measurement.rounds(WARM_UP_ROUNDS, chance)
        self._say(f"measuring: {options.rounds} leaves and joins under {first}")
        clock = BatchClock(f"http://127.0.0.1:{self._system.metrics_port}/metrics")
        with clock:
            changes = measurement.rounds(options.rounds, chance)
        self._say(f"at rest: the engine's processor time over {options.rest_s:.0f} s")
        at_rest = self._processor_share()
        if options.crashes:
            self._say(f"crashes: {options.crashes} clients are killed, each missed for its lease")
        crashes = measurement.crashes(options.crashes, chance)
        with condition:
            gaps_ms = crew.turns.gaps_ms([(each.begun_ns, each.adopted_ns) for each in changes])
        beside: dict[str, Sequence[Change]] = {}
        for strategy in others:
            self._say(f"beside it: {options.rounds} leaves and joins under {strategy}")
            measurement.rule(strategy)
            beside[strategy] = measurement.rounds(options.rounds, chance)
        heartbeats = self._heartbeats() if crashes else {}
        rules = load_settings(overrides=self._system.settings()).group_defaults
        return Results.of(
            changes,
            read_log_times(self._system.bootstrap, self._system.plan.prefix, GROUP),
            clock.phases_ms,
            at_rest,
            starts,
            gaps_ms=gaps_ms,
            crashes_ms=[crash.total_ms(heartbeats) for crash in crashes],
            waits_ms=float(rules.lease_ms + rules.margin_ms),
            strategy=first,
            beside=beside,
        )

    def _processor_share(self) -> float:
        """Processor time of the engine per second, all clients in the group and nothing to do."""
        pid = self._system.engine.pid
        before, begun = processor_seconds(pid), time.monotonic()
        time.sleep(self._options.rest_s)
        return (processor_seconds(pid) - before) / (time.monotonic() - begun)

    def _heartbeats(self) -> dict[str, list[int]]:
        """When each client's heartbeats were appended, in milliseconds of the wall clock."""
        appended_ms: dict[str, list[int]] = {}
        topic = f"{self._system.plan.prefix}heartbeats"
        for record in read_to_end(self._system.bootstrap, topic).records:
            fields = orjson.loads(record.value or b"{}")
            if fields.get("kind") == "heartbeat":
                appended_ms.setdefault(fields["client_id"], []).append(record.append_ms)
        return appended_ms


@contextlib.contextmanager
def _folder(say: Callable[[str], None], *, keep: bool) -> Iterator[Path]:
    """A folder for the run's data, gone afterwards unless it shall be kept."""
    folder = Path(tempfile.mkdtemp(prefix="fairlead-bench-"))
    try:
        yield folder
    finally:
        if keep:
            say(f"kept: {folder} (logs, broker data)")
        else:
            shutil.rmtree(folder, ignore_errors=True)
