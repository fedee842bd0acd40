"""The search itself: breadth first over all moments of a world, so that the first find is shortest.

Besides looking for a violation it keeps the graph of all steps, and checks that every moment leads
to a settled one: a moment without a fair step must be settled, and no steps may go in a circle.
"""

import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

from fairlead_proof.explorer.world import World
from fairlead_proof.explorer.world_state import ENGINE, Joint, Moment

__all__ = ["Found", "Progress", "Searched", "search"]

TELL_EVERY_STATES = 5_000
NOBODY = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Found:
    """A violation, and the shortest run that leads to it."""

    violation: str
    run: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Searched:
    """What the search of one world gave. ``found`` None: every moment keeps every promise."""

    world: World
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
    """Whether every state was looked at: no violation and no limit ended the search."""
    found: Found | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is."""

    world: World
    states: int
    open: int
    transitions: int


@dataclass(slots=True)
class _Graph:
    """All moments that were met, by number, and the steps between them."""

    joint: Joint
    numbers: dict[Moment, int] = field(default_factory=dict)
    moments: list[Moment] = field(default_factory=list)
    parents: "array[int]" = field(default_factory=lambda: array("L"))
    labels: list[str] = field(default_factory=list)
    first_step: "array[int]" = field(default_factory=lambda: array("L"))
    targets: "array[int]" = field(default_factory=lambda: array("L"))

    def meet(self, moment: Moment, parent: int, label: str) -> int:
        """Return a moment's number; a new one remembers how it was first reached."""
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
    world: World,
    tell: Callable[[Progress], None] | None = None,
    *,
    looked: Callable[[Joint, Moment], None] | None = None,
    states_max: int | None = None,
) -> Searched:
    """Search a world; stop at the first violation, or when so many states were met.

    ``looked`` is told every moment that is looked at.
    """
    begun = time.process_time()
    graph = _Graph(Joint(world))
    graph.meet(graph.joint.begin(), NOBODY, "")
    found, ends = None, 0
    number = 0
    while number < len(graph.moments) and found is None:
        if states_max is not None and len(graph.moments) > states_max:
            break
        if tell is not None and number % TELL_EVERY_STATES == 0:
            open_states = len(graph.moments) - number
            tell(Progress(world, len(graph.moments), open_states, len(graph.targets)))
        if looked is not None:
            looked(graph.joint, graph.moments[number])
        found, settled = _expand(graph, number)
        ends += settled
        number += 1
    whole = found is None and number == len(graph.moments)
    if whole:
        circle = _circle(graph)
        if circle is not None:
            found = Found("CYCLE: fair steps go round for ever", graph.run_to(circle))
    return Searched(
        world,
        len(graph.moments),
        len(graph.targets),
        ends,
        len(graph.run_to(len(graph.moments) - 1)),
        time.process_time() - begun,
        len(graph.joint.clients.states),
        len(graph.joint.engines.states),
        len(graph.joint.facts.known),
        whole,
        found,
    )


def _expand(graph: _Graph, number: int) -> tuple[Found | None, bool]:
    """Meet everything that can happen next; tell what is violated, and whether it is an end."""
    moment = graph.moments[number]
    graph.first_step.append(len(graph.targets))
    fair = others = False
    for each in graph.joint.nexts(moment):
        if each.violation is not None:
            return Found(each.violation, (*graph.run_to(number), each.label)), False
        if each.to == moment:
            continue
        fair = fair or each.fair
        others = others or (each.fair and each.to[ENGINE] == moment[ENGINE])
        graph.targets.append(graph.meet(each.to, number, each.label))
    missing = None if others else graph.joint.stays(moment)
    if fair and missing is None:
        return None, False
    missing = missing or graph.joint.unsettled(moment)
    if missing is not None:
        return Found(f"STUCK: {missing}", graph.run_to(number)), False
    return None, True


def _circle(graph: _Graph) -> int | None:
    """Return a moment that lies on a circle of steps, or behind one; None: there is none."""
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
