"""What was measured, summed up, and compared with what must hold."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from fairlead_proof.bench.batch_clock import TOTAL
from fairlead_proof.bench.changes import Change, LogTimes, cut
from fairlead_proof.bench.percentiles import Summary, summarise
from fairlead_proof.bench.starts import WITH_ARCHIVE
from fairlead_proof.bench.target import Target
from strategies.registry import USUAL

BATCHES_MAX: Final = 1.8
"""The median may take so many of the run's own median batches, …"""
SPARE_MS: Final = 100.0
"""… and so much besides."""
P50_MS_MAX: Final = 500.0
P95_MS_MAX: Final = 900.0
GAP_MS_MAX: Final = 50.0
"""Between the old owner's stop and the new owner's start, in the median."""
CRASH_MS_MAX: Final = 1_500.0
"""So much more than lease and margin a crash may take, for 95 of 100."""
START_MS_MAX: Final = 10_000.0
_COMMIT: Final = "commit"


@dataclass(frozen=True, slots=True)
class UnderStrategy:
    """Joins and leaves under another strategy than the one that is measured in full.

    Attributes:
        adopted: from the event to the last queue at its position, in milliseconds.
        queues: how many queues changed hands per event.
    """

    adopted: Summary
    queues: Summary

    @classmethod
    def of(cls, changes: Sequence[Change]) -> Self:
        """Sum up joins and leaves.

        Raises:
            ValueError: there are none.
        """
        adopted = summarise([change.total_ms for change in changes])
        return cls(adopted, summarise([change.queues for change in changes]))


@dataclass(frozen=True, slots=True)
class Results:
    """The outcome of one run; times in milliseconds.

    Attributes:
        adopted: from the event to the last queue at its position, by kind of event, and all.
        phases: of that, by phase.
        batches: the job's batches while it was measured, by phase, as the job reports them.
        queues: how many queues changed hands per event.
        decisions: how many decisions were on the way of the last queue, per event.
        gaps: from the old owner's stop to the new owner's start, per queue that a join or a leave
            moved; None if none moved from one living client to another.
        crashes: from a killed client's last heartbeat to its last queue at its position elsewhere;
            None if nobody was killed.
        waits_ms: lease and margin, which every crash waits for.
        starts: from `fairlead run` to the first assignment of a waiting group, by kind of start.
        at_rest: the engine's processor time per second with all clients in and nothing to do.
        changes: every event on its own.
        strategy: the one under which all that was measured.
        beside: strategy -> joins and leaves under it, in the same run.
    """

    adopted: Mapping[str, Summary]
    phases: Mapping[str, Summary]
    batches: Mapping[str, Summary]
    queues: Summary
    decisions: Summary
    gaps: Summary | None
    crashes: Summary | None
    waits_ms: float
    starts: Mapping[str, Summary]
    at_rest: float
    changes: tuple[Mapping[str, Any], ...]
    strategy: str
    beside: Mapping[str, UnderStrategy]

    @classmethod
    def of(
        cls,
        changes: Sequence[Change],
        log: LogTimes,
        batches: Mapping[str, Sequence[float]],
        at_rest: float,
        starts: Mapping[str, Sequence[float]],
        *,
        gaps_ms: Sequence[float] = (),
        crashes_ms: Sequence[float] = (),
        waits_ms: float = 0.0,
        strategy: str = USUAL,
        beside: Mapping[str, Sequence[Change]] | None = None,
    ) -> Self:
        """Sum up a run.

        Raises:
            ValueError: nothing was measured.
        """
        summed = {phase: summarise(times) for phase, times in batches.items()}
        if TOTAL not in summed:
            raise ValueError("the job reported no batch while it was measured")
        commit = summed[_COMMIT].p50 if _COMMIT in summed else 0.0
        # Decisions are written before the batch is committed.
        until_written = summed[TOTAL].p50 - commit
        phases = [cut(change, log, until_written) for change in changes]
        return cls(
            adopted=_adopted(changes),
            phases={
                "waiting for the batch": summarise([phase.waiting for phase in phases]),
                "the batch": summarise([phase.batch for phase in phases]),
                "client hops": summarise([phase.client for phase in phases]),
                "  hop: event to record": summarise([phase.asking for phase in phases]),
                "  hop: drop to release": summarise([phase.releasing for phase in phases]),
                "  hop: release to position": summarise([phase.taking for phase in phases]),
            },
            batches=summed,
            queues=summarise([change.queues for change in changes]),
            decisions=summarise([phase.decisions for phase in phases]),
            gaps=summarise(gaps_ms) if gaps_ms else None,
            crashes=summarise(crashes_ms) if crashes_ms else None,
            waits_ms=waits_ms,
            starts={kind: summarise(times) for kind, times in starts.items()},
            at_rest=at_rest,
            changes=tuple(
                {
                    "kind": change.kind,
                    "client_id": change.client_id,
                    "queues": change.queues,
                    "total_ms": round(change.total_ms, 1),
                    **{name: round(value, 1) for name, value in asdict(phase).items()},
                }
                for change, phase in zip(changes, phases, strict=True)
            ),
            strategy=strategy,
            beside={name: UnderStrategy.of(seen) for name, seen in (beside or {}).items()},
        )

    @property
    def targets(self) -> tuple[Target, ...]:
        """What must hold, with what was measured."""
        batch, adopted = self.batches[TOTAL].p50, self.adopted["all"]
        relative = round(BATCHES_MAX * batch + SPARE_MS, 1)
        starts = self.starts.get(WITH_ARCHIVE)
        longest = None if starts is None else starts.max
        gap = None if self.gaps is None else self.gaps.p50
        crash = None if self.crashes is None else self.crashes.p95
        return (
            Target("p50, against the run's own batches", adopted.p50, relative),
            Target("p50", adopted.p50, P50_MS_MAX),
            Target("p95", adopted.p95, P95_MS_MAX),
            Target("gap of a moved queue, p50", gap, GAP_MS_MAX),
            Target("crash, p95, against lease and margin", crash, self.waits_ms + CRASH_MS_MAX),
            Target(f"each start {WITH_ARCHIVE}", longest, START_MS_MAX),
        )

    @property
    def passed(self) -> bool:
        """Whether every target holds that was measured."""
        return all(target.holds is not False for target in self.targets)

    def to_json(self) -> dict[str, Any]:
        """The results as JSON."""
        return {
            "v": 1,
            "unit": "ms",
            "passed": self.passed,
            "targets": [target.to_json() for target in self.targets],
            "adopted": {name: asdict(summary) for name, summary in self.adopted.items()},
            "phases": {name: asdict(summary) for name, summary in self.phases.items()},
            "batches": {name: asdict(summary) for name, summary in self.batches.items()},
            "queues": asdict(self.queues),
            "decisions": asdict(self.decisions),
            "gaps": None if self.gaps is None else asdict(self.gaps),
            "crashes": None if self.crashes is None else asdict(self.crashes),
            "starts": {kind: asdict(summary) for kind, summary in self.starts.items()},
            "engine_at_rest_cpu": round(self.at_rest, 3),
            "strategy": self.strategy,
            "beside": {name: asdict(under) for name, under in self.beside.items()},
            "changes": list(self.changes),
        }


def _adopted(changes: Sequence[Change]) -> dict[str, Summary]:
    """Sum up how long changes took, all of them and by kind."""
    kinds = {
        kind: summarise([each.total_ms for each in changes if each.kind == kind])
        for kind in ("join", "leave")
    }
    return {"all": summarise([change.total_ms for change in changes]), **kinds}
