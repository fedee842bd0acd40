"""What was measured of every contestant, held against each other and against what must hold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fairlead_proof.bench.assignors.contestant import Answer, Contestant
from fairlead_proof.bench.assignors.grid import Point, Run
from fairlead_proof.bench.assignors.outcome import Outcome, is_worse, moves_more
from fairlead_proof.bench.target import Target

SUBJECT: Final = "STICKY"
"""The strategy that the targets and the ratios are of."""

_MS_MAX: Final[tuple[tuple[str, int, Run, float], ...]] = (
    ("equal", 1_000, "full", 50.0),
    ("equal", 1_000, "join", 50.0),
    ("equal", 10_000, "full", 500.0),
    ("equal", 10_000, "join", 100.0),
    ("unequal", 1_000, "full", 250.0),
    ("unequal", 1_000, "join", 250.0),
    ("unequal", 10_000, "full", 5_000.0),
    ("unequal", 10_000, "join", 1_000.0),
)
"""Subscriptions, members (with 10 queues each), run, and the longest median in milliseconds.

Of processor time: the strategy is one thread, so on a machine with nothing else to do it is the
time on the clock, and on another one it is still the strategy's.
"""
_QUEUES_PER_MEMBER: Final = 10


@dataclass(frozen=True, slots=True)
class Figure:
    """One contestant at one point of the grid.

    Attributes:
        point: where.
        contestant: who.
        settled_by: who shared the group before the member joined; None for a full run.
        answer: what it answered and how long it took; None beyond the limit.
        outcome: what the answer is worth; None without one.
        least: the fewest moves that an even share needs, where that is known.
    """

    point: Point
    contestant: Contestant
    settled_by: str | None
    answer: Answer | None = None
    outcome: Outcome | None = None
    least: int | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """The figures of one run, in their order.

    Attributes:
        figures: one for each contestant and point, and for each that settled the group.
        limit_ms: how long one run of a contestant may take.
    """

    figures: Sequence[Figure]
    limit_ms: float

    def ratio(self, figure: Figure) -> float | None:
        """Return our processor time / that of one of Kafka's assignors; None if it is not known.

        One that looks at owners had the same ones as ours.
        """
        if figure.contestant.is_ours or figure.answer is None:
            return None
        for ours in self.figures:
            if (
                ours.point == figure.point
                and ours.contestant.name == SUBJECT
                and ours.settled_by != SUBJECT
                and ours.answer is not None
            ):
                return ours.answer.processor_ms / figure.answer.processor_ms
        return None

    def rivals(self) -> Iterator[tuple[Outcome, Outcome]]:
        """Yield our outcome and a sticky rival's, for each group that both were given."""
        for ours in self.figures:
            for theirs in self.figures:
                if (
                    ours.contestant.name == SUBJECT
                    and theirs.contestant.sticky
                    and not theirs.contestant.is_ours
                    and (ours.point, ours.settled_by) == (theirs.point, theirs.settled_by)
                    and ours.outcome is not None
                    and theirs.outcome is not None
                ):
                    yield ours.outcome, theirs.outcome

    @property
    def targets(self) -> tuple[Target, ...]:
        """What must hold: times, and against Kafka's sticky assignors balance and moves."""
        rivals = list(self.rivals())
        worse = sum(is_worse(ours, theirs) for ours, theirs in rivals) if rivals else None
        more = sum(moves_more(ours, theirs) for ours, theirs in rivals) if rivals else None
        return (
            *(self._time(*row) for row in _MS_MAX),
            Target("groups shared less evenly than by a sticky assignor of Kafka", worse, 0),
            Target("groups shared as evenly with more moves", more, 0),
        )

    def _time(self, subscriptions: str, members: int, run: Run, ms_max: float) -> Target:
        """The longest median of all runs of this size, in milliseconds of processor time."""
        times = [
            self.limit_ms if figure.answer is None else figure.answer.processor_ms
            for figure in self.figures
            if figure.contestant.name == SUBJECT
            and figure.point.members == members
            and figure.point.queues_per_member == _QUEUES_PER_MEMBER
            and figure.point.run == run
            and (figure.point.subscriptions == "equal") == (subscriptions == "equal")
        ]
        queues = members * _QUEUES_PER_MEMBER
        name = f"ms: {subscriptions}, {members:,} members, {queues:,} queues, {run}"
        return Target(name, round(max(times), 1) if times else None, ms_max)

    @property
    def passed(self) -> bool:
        """Whether every target holds that was measured."""
        return all(target.holds is not False for target in self.targets)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield every figure as JSON."""
        for figure in self.figures:
            point, answer, outcome = figure.point, figure.answer, figure.outcome
            ratio = self.ratio(figure)
            yield {
                "members": point.members,
                "queues": point.queues,
                "queues_per_member": point.queues_per_member,
                "topics": point.topics,
                "subscriptions": point.subscriptions,
                "run": point.run,
                "contestant": figure.contestant.name,
                "settled_by": figure.settled_by,
                "beyond_limit": answer is None,
                "processor_ms": answer and round(answer.processor_ms, 4),
                "clock_ms": answer and round(answer.clock_ms, 4),
                "runs": answer and answer.runs,
                "warm_ups": answer and answer.warm_ups,
                "rounds": answer and answer.rounds,
                "ours_to_theirs": ratio and round(ratio, 4),
                "moved": outcome and outcome.moved,
                "least": figure.least,
                "spread": outcome and outcome.spread,
                "spread_in_a_topic": outcome and outcome.topic_spread,
                "squares": outcome and outcome.squares,
            }

    def to_json(self) -> dict[str, Any]:
        """The results as JSON."""
        return {
            "v": 1,
            "unit": "ms",
            "passed": self.passed,
            "limit_ms": self.limit_ms,
            "targets": [target.to_json() for target in self.targets],
            "figures": list(self.rows()),
        }
