"""One schedule: a history drawn from a seed, judged at every step until the group rests."""

import gc
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

from fairlead_proof.sim.changes import CHANGES
from fairlead_proof.sim.convergence import heal, settle
from fairlead_proof.sim.faults_of_clients import OF_CLIENTS
from fairlead_proof.sim.faults_of_engine import OF_ENGINE
from fairlead_proof.sim.faults_of_gateways import OF_GATEWAYS
from fairlead_proof.sim.faults_of_kafka import OF_KAFKA
from fairlead_proof.sim.story import Story
from fairlead_proof.sim.violation import BreachError
from fairlead_proof.sim.world import SimulatedWorld

__all__ = ["KINDS", "Outcome", "run_schedule"]

Injection = Callable[[SimulatedWorld], bool | None]

CATALOGUE: tuple[tuple[Injection, int], ...] = (*OF_CLIENTS, *OF_KAFKA, *OF_ENGINE, *CHANGES)
THIN_CATALOGUE: tuple[tuple[Injection, int], ...] = (*CATALOGUE, *OF_GATEWAYS)
GATEWAYS = 2

KINDS = (
    "client_clock_drifts",
    "engine_without_state",
    "bounds_not_told_in_time",
    *(inject.__name__ for inject, _ in CATALOGUE),
)
"""Every kind of fault or change."""

BEGIN_MS = 3_500
PAUSE_MS = (300, 2_500)
TRIES = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a schedule. ``breach``: the broken rule, and how; None: none is broken."""

    seed: int
    breach: tuple[str, str] | None
    happened: dict[str, int]
    handovers: dict[str, int]
    starts: int
    repeated: int
    lasted_ms: int
    settled_ms: int | None
    story: tuple[str, ...] = field(default=(), compare=False)

    @property
    def faults(self) -> int:
        """How many faults and changes there were."""
        return sum(self.happened.values())

    @property
    def moves(self) -> int:
        """How many handovers there were."""
        return sum(self.handovers.values())


def run_schedule(seed: int, *, keep_story: bool = False, thin: bool = False) -> Outcome:
    """Run the schedule of a seed.

    Args:
        seed: the same seed gives the same schedule, in every process.
        keep_story: whether to keep the story.
        thin: whether most clients come through gateways.
    """
    story = Story() if keep_story else None
    collects = gc.isenabled()
    # A schedule is short and frees its objects at its end; the cycle collector would cost more.
    gc.disable()
    try:
        world = SimulatedWorld(seed, story, thin=thin)
        breach, settled_ms = _live(world)
    finally:
        if collects:
            gc.enable()
    if story is not None and breach is not None:
        world.narrate("judge", breach[0], breach[1])
    return Outcome(
        seed,
        breach,
        {kind: number for kind in KINDS if (number := world.happened[kind])},
        dict(sorted(world.judge.tenures.handovers.items())),
        world.judge.tenures.starts,
        world.judge.start_checks.repeated,
        world.timeline.now_ms,
        settled_ms,
        tuple(story.lines) if story is not None else (),
    )


def _live(world: SimulatedWorld) -> tuple[tuple[str, str] | None, int | None]:
    try:
        _begin(world)
        for _ in range(world.scenario.faults):
            _let_something_happen(world)
            world.timeline.run_until(world.timeline.now_ms + world.chance.between(*PAUSE_MS))
        heal(world)
        return None, settle(world)
    except BreachError as error:
        return (error.rule, error.detail), None
    except Exception:  # noqa: BLE001 - any exception is a defect that the seed repeats
        return ("DEFECT", traceback.format_exc()), None


def _begin(world: SimulatedWorld) -> None:
    """Start the engine and the first clients."""
    world.start_driver()
    for _ in range(GATEWAYS if world.thin else 0):
        world.start_gateway()
    for _ in range(world.scenario.clients):
        world.join()
    world.timeline.run_until(BEGIN_MS)


def _let_something_happen(world: SimulatedWorld) -> None:
    for _ in range(TRIES):
        inject = world.chance.weighed(THIN_CATALOGUE if world.thin else CATALOGUE)
        happened = inject(world)
        if happened:
            world.note(inject.__name__)
            world.narrate("fate", inject.__name__)
        if happened is not False:
            return
