"""The search: breadth first over all moments of a world, so the first violation has a shortest run.

It also keeps the graph of all steps, and checks that every moment leads to a settled one: a moment
without a fair step must be settled, and no steps may form a cycle.
"""

import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

from fairlead_proof.explorer.state_space import ENGINE, Moment, StateSpace
from fairlead_proof.explorer.world import WorldBounds

__all__ = ["Counterexample", "Progress", "Searched", "search"]

REPORT_EVERY_STATES = 5_000
NOBODY = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A violation, and the shortest run to it."""

    violation: str
    run: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Searched:
    """The result of a search. ``counterexample`` None: every moment keeps every promise."""

    world: WorldBounds
    states: int
    transitions: int
    ends: int
    """The settled moments without a fair step."""
    steps: int
    """The length of the longest of all shortest runs."""
    seconds: float
    client_states: int
    engine_states: int
    facts: int
    whole: bool
    """Whether the search expanded every state, without a violation or a limit."""
    counterexample: Counterexample | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is."""

    world: WorldBounds
    states: int
    open: int
    transitions: int


@dataclass(slots=True)
class _Graph:
    """All reached moments, by number, and the steps between them."""

    space: StateSpace
    numbers: dict[Moment, int] = field(default_factory=dict)
    moments: list[Moment] = field(default_factory=list)
    parents: "array[int]" = field(default_factory=lambda: array("L"))
    labels: list[str] = field(default_factory=list)
    first_step: "array[int]" = field(default_factory=lambda: array("L"))
    targets: "array[int]" = field(default_factory=lambda: array("L"))
    backs: int = 0
    """How many steps take something back: no cycle counts that needs one of them."""

    def meet(self, moment: Moment, parent: int, label: str) -> int:
        """Return a moment's number; a new moment keeps its first step."""
        number = self.numbers.setdefault(moment, len(self.moments))
        if number == len(self.moments):
            self.moments.append(moment)
            self.parents.append(parent)
            self.labels.append(label)
        return number

    def run_to(self, number: int) -> tuple[str, ...]:
        """Return the shortest run to a moment."""
        run = []
        while self.parents[number] != NOBODY:
            run.append(self.labels[number])
            number = self.parents[number]
        return tuple(reversed(run))


def search(
    world: WorldBounds,
    report: Callable[[Progress], None] | None = None,
    *,
    on_moment: Callable[[StateSpace, Moment], None] | None = None,
    states_max: int | None = None,
) -> Searched:
    """Search a world; stop at the first violation, or at ``states_max`` states.

    ``on_moment`` gets every moment that the search expands.
    """
    begun = time.process_time()
    graph = _Graph(StateSpace(world))
    graph.meet(graph.space.begin(), NOBODY, "")
    counterexample, ends = None, 0
    number = 0
    while number < len(graph.moments) and counterexample is None:
        if states_max is not None and len(graph.moments) > states_max:
            break
        if report is not None and number % REPORT_EVERY_STATES == 0:
            open_states = len(graph.moments) - number
            report(Progress(world, len(graph.moments), open_states, len(graph.targets)))
        if on_moment is not None:
            on_moment(graph.space, graph.moments[number])
        counterexample, settled = _expand(graph, number)
        ends += settled
        number += 1
    whole = counterexample is None and number == len(graph.moments)
    if whole:
        circle = _circle(graph)
        if circle is not None:
            counterexample = Counterexample(
                "CYCLE: fair steps go round for ever", graph.run_to(circle)
            )
    return Searched(
        world,
        len(graph.moments),
        len(graph.targets) + graph.backs,
        ends,
        len(graph.run_to(len(graph.moments) - 1)),
        time.process_time() - begun,
        len(graph.space.clients.states) + len(graph.space.thin.states),
        len(graph.space.engines.states),
        len(graph.space.facts.known),
        whole,
        counterexample,
    )


def _expand(graph: _Graph, number: int) -> tuple[Counterexample | None, bool]:
    """Reach all next moments; return a violation, if any, and whether this moment is an end."""
    moment = graph.moments[number]
    graph.first_step.append(len(graph.targets))
    fair = others = False
    for each in graph.space.nexts(moment):
        if each.violation is not None:
            return Counterexample(each.violation, (*graph.run_to(number), each.label)), False
        if each.to == moment:
            continue
        fair = fair or each.fair
        others = others or (each.fair and each.to[ENGINE] == moment[ENGINE])
        to = graph.meet(each.to, number, each.label)
        if each.back:
            graph.backs += 1
        else:
            graph.targets.append(to)
    missing = None if others else graph.space.stays(moment)
    if fair and missing is None:
        return None, False
    missing = missing or graph.space.unsettled(moment)
    if missing is not None:
        return Counterexample(f"STUCK: {missing}", graph.run_to(number)), False
    return None, True


def _circle(graph: _Graph) -> int | None:
    """Return a moment on or behind a cycle of steps; None: there is no cycle."""
    first, targets, count = graph.first_step, graph.targets, len(graph.moments)
    first.append(len(targets))
    incoming = array("L", bytes(array("L").itemsize * count))
    for target in targets:
        incoming[target] += 1
    ready = [number for number in range(count) if not incoming[number]]
    done = 0
    while ready:
        number = ready.pop()
        done += 1
        for target in targets[first[number] : first[number + 1]]:
            incoming[target] -= 1
            if not incoming[target]:
                ready.append(target)
    if done == count:
        return None
    return next(number for number in range(count) if incoming[number])
