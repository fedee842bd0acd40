"""One run of the benchmark: every contestant at every point of the grid, one after another.

For a join, whoever looks at the owners of now starts from the group that Kafka's UniformAssignor
had settled, ours and Kafka's alike; whoever does not, from what it had settled itself. STICKY is
run from its own too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from fairlead.jars.progress import FetchProgress
from fairlead_proof.bench.assignors.contestant import Answer, Contestant, Conversation, Effort, ours
from fairlead_proof.bench.assignors.grid import Axes, Point, points
from fairlead_proof.bench.assignors.group import Group
from fairlead_proof.bench.assignors.kafka import kafka_contestants
from fairlead_proof.bench.assignors.outcome import least_moves, outcome
from fairlead_proof.bench.assignors.results import SUBJECT, Figure

SETTLER: Final = "UNIFORM"
RUNS_MIN: Final = 3
_FOR_COMPARISON: Final = ("AVG", "CONSISTENT_HASH")
"""Ours that look at no owners: run once, for no target is of them."""


@dataclass(frozen=True, slots=True)
class StrategyBenchOptions:
    """What a user can choose.

    Attributes:
        axes: what is covered.
        seconds: how long a contestant is warmed up, and how long it is measured.
        limit_s: how long one run of a contestant may take.
    """

    axes: Axes
    seconds: float
    limit_s: float

    @property
    def effort(self) -> Effort:
        """For those that are compared."""
        ms = round(self.seconds * 1_000)
        return Effort(warm_up_ms=ms, measure_ms=ms, runs_min=RUNS_MIN)


def run_strategy_bench(
    options: StrategyBenchOptions, say: Callable[[str], None], progress: FetchProgress
) -> Iterator[Figure]:
    """Yield each figure as soon as it is known.

    Raises:
        EnvironmentMissingError: no JDK, or no jars and no network.
        QueryDiedError: a contestant died.
        BadAnswerError: a contestant's answer is none.
    """
    with TemporaryDirectory(prefix="fairlead-bench-strategies-") as name:
        folder = Path(name)
        say("Kafka's assignors: compiling what runs them")
        contestants = [
            *kafka_contestants(folder, progress),
            ours(SUBJECT, sticky=True),
            *map(ours, _FOR_COMPARISON),
        ]
        grid = list(points(options.axes))
        hopeless: set[tuple[str, Point]] = set()
        for number, point in enumerate(grid, start=1):
            say(f"{number} of {len(grid)}: {point}")
            for figure in _Round(point, contestants, options, folder, hopeless).figures():
                say(f"    {_spoken(figure, options)}")
                yield figure


def _spoken(figure: Figure, options: StrategyBenchOptions) -> str:
    name = figure.contestant.name
    if figure.settled_by not in (None, SETTLER):
        name += f" after {figure.settled_by}"
    if figure.answer is None or figure.outcome is None:
        return f"{name}: over {options.limit_s:g} s"
    time = f"{figure.answer.processor_ms:.4g} ms of processor time, median of {figure.answer.runs}"
    return f"{name}: {time}; {figure.outcome.moved} moved"


class _Round:
    """All contestants at one point."""

    def __init__(
        self,
        point: Point,
        contestants: Sequence[Contestant],
        options: StrategyBenchOptions,
        folder: Path,
        hopeless: set[tuple[str, Point]],
    ) -> None:
        self._point = point
        self._contestants = {each.name: each for each in contestants}
        self._options = options
        self._folder = folder
        self._hopeless = hopeless
        self._settled: dict[str, Group | None] = {}

    def figures(self) -> Iterator[Figure]:
        """Yield the figures of the point."""
        for contestant in self._contestants.values():
            settlers: tuple[str | None, ...] = (None,)
            if self._point.run == "join":
                settlers = (SETTLER if contestant.sticky else contestant.name,)
                if contestant.name == SUBJECT:
                    settlers = (SETTLER, SUBJECT)
            for settler in settlers:
                yield self._figure(contestant, settler)

    def _figure(self, contestant: Contestant, settler: str | None) -> Figure:
        group = self._point.first() if settler is None else self._group_after(settler)
        if group is None:
            return Figure(self._point, contestant, settler)
        effort = Effort() if contestant.name in _FOR_COMPARISON else self._options.effort
        answer = self._ask(contestant, group, effort)
        if answer is None:
            self._hopeless.add((contestant.name, self._point))
            return Figure(self._point, contestant, settler)
        measured = outcome(group, answer.owners)
        return Figure(self._point, contestant, settler, answer, measured, least_moves(group))

    def _group_after(self, settler: str) -> Group | None:
        """Return the group that the settler had shared, with the joiner; None beyond the limit.

        Who was beyond it for the whole group is not asked again for one member less.
        """
        if settler not in self._settled:
            first = self._point.first()
            answer = None
            if (settler, replace(self._point, run="full")) not in self._hopeless:
                answer = self._ask(self._contestants[settler], first, Effort())
            settled = None if answer is None else first.owned_by(answer.owners)
            self._settled[settler] = settled and self._point.joined(settled)
        return self._settled[settler]

    def _ask(self, contestant: Contestant, group: Group, effort: Effort) -> Answer | None:
        with Conversation(contestant, self._folder) as conversation:
            return conversation.ask(group, effort, self._options.limit_s)
