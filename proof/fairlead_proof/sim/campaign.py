"""Runs many schedules, in turn or in parallel, and judges them as a whole.

A campaign with few faults proves little. So it has targets: the median schedule needs enough faults
and handovers, and each kind of fault must strike in enough schedules.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from statistics import median

from fairlead_proof.sim.schedule import KINDS, Outcome, run_schedule

__all__ = ["Campaign", "Target", "run_campaign"]

FAULTS_MIN = 8
HANDOVERS_MIN = 20
SHARE_MIN_PERCENT = 5
JUDGED_FROM = 200
"""Fewer schedules than this do not show how often something happens."""
CHUNK = 10


@dataclass(frozen=True, slots=True)
class Target:
    """One measure of how much happened. ``passed`` None: too few schedules to judge."""

    name: str
    measured: float
    least: float
    passed: bool | None


@dataclass(slots=True)
class Campaign:
    """The sums of all schedules so far."""

    schedules: int = 0
    lasted_ms: int = 0
    starts: int = 0
    repeated: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    struck: Counter[str] = field(default_factory=Counter)
    handovers: Counter[str] = field(default_factory=Counter)
    breaches: list[Outcome] = field(default_factory=list)
    settled_ms: list[int] = field(default_factory=list)
    _faults: list[int] = field(default_factory=list)
    _moves: list[int] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Add the outcome of one schedule."""
        self.schedules += 1
        self.lasted_ms += outcome.lasted_ms
        self.starts += outcome.starts
        self.repeated += outcome.repeated
        self.happened.update(outcome.happened)
        self.struck.update(outcome.happened.keys())
        self.handovers.update(outcome.handovers)
        self._faults.append(outcome.faults)
        self._moves.append(outcome.moves)
        if outcome.breach is not None:
            self.breaches.append(outcome)
        if outcome.settled_ms is not None:
            self.settled_ms.append(outcome.settled_ms)

    @property
    def first_breach(self) -> Outcome | None:
        """The breach of the lowest seed."""
        return min(self.breaches, key=lambda outcome: outcome.seed, default=None)

    def targets(self) -> list[Target]:
        """Return each measure with the least that it must reach."""
        enough = self.schedules >= JUDGED_FROM
        measured = [
            ("faults in a schedule, median", median(self._faults or [0]), FAULTS_MIN),
            ("handovers in a schedule, median", median(self._moves or [0]), HANDOVERS_MIN),
        ]
        measured += [
            (f"% of schedules with {kind}", self.share(kind), SHARE_MIN_PERCENT) for kind in KINDS
        ]
        return [
            Target(name, value, least, value >= least if enough else None)
            for name, value, least in measured
        ]

    def share(self, kind: str) -> float:
        """Return the percentage of schedules in which this kind happened."""
        return round(100 * self.struck[kind] / self.schedules, 1) if self.schedules else 0.0

    @property
    def passed(self) -> bool:
        """Whether no schedule broke a promise, and every target is reached."""
        return not self.breaches and all(target.passed is not False for target in self.targets())

    def to_json(self) -> Mapping[str, object]:
        """Return the sums as a JSON object."""
        return {
            "schedules": self.schedules,
            "passed": self.passed,
            "virtual_seconds": self.lasted_ms // 1_000,
            "faults": {kind: self.happened[kind] for kind in KINDS},
            "schedules_with": {kind: self.struck[kind] for kind in KINDS},
            "handovers": dict(sorted(self.handovers.items())),
            "starts": self.starts,
            "messages_repeated": self.repeated,
            "settled_ms": {
                "median": int(median(self.settled_ms or [0])),
                "most": max(self.settled_ms, default=0),
            },
            "targets": [
                {
                    "name": target.name,
                    "measured": target.measured,
                    "least": target.least,
                    "passed": target.passed,
                }
                for target in self.targets()
            ],
            "breaches": [
                {"seed": outcome.seed, "rule": outcome.breach[0], "detail": outcome.breach[1]}
                for outcome in sorted(self.breaches, key=lambda outcome: outcome.seed)
                if outcome.breach is not None
            ],
        }


def run_campaign(seed: int, schedules: int, jobs: int) -> Iterator[Outcome]:
    """Yield the outcome of each schedule, from this seed on, as they come.

    Args:
        seed: of the first schedule; each following one has the next number.
        schedules: how many.
        jobs: how many processes run them; 1: this one.
    """
    if jobs == 1:
        for number in range(schedules):
            yield run_schedule(seed + number)
        return
    firsts = range(seed, seed + schedules, CHUNK)
    # A process that is forked from one with threads may hang for ever.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        runs = [
            pool.submit(_run_some, first, min(CHUNK, seed + schedules - first)) for first in firsts
        ]
        try:
            for run in as_completed(runs):
                yield from run.result()
        finally:
            for run in runs:
                run.cancel()


def _run_some(first: int, schedules: int) -> list[Outcome]:
    return [run_schedule(first + number) for number in range(schedules)]
