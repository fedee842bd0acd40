"""The engine's drivers: batches cut anywhere, killed before the commit, put back in time."""

from copy import copy
from dataclasses import dataclass, field
from random import Random

from fairlead.core.invariants import check
from fairlead.core.outputs import Assignment, Notice, Request
from fairlead.core.rules import EngineRules, Moment
from fairlead.core.state import GroupState
from fairlead.core.step import due_ms, step
from strategies.registry import STRATEGIES
from tests.handover.log import INPUTS, Log, LogClock, Tick

__all__ = ["Driver"]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What one committed batch leaves behind."""

    state: GroupState | None
    places: dict[str, int]
    clock: LogClock


@dataclass(slots=True)
class Driver:
    """The one driver that runs; a kill makes the next generation of it."""

    log: Log
    rng: Random
    chain_cap: int
    generation: int = 0
    ticked_ms: int = -10_000
    lose_output: float = 0.0
    checkpoints: list[Checkpoint] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with nothing, under the first generation."""
        self.checkpoints = [Checkpoint(None, dict.fromkeys(INPUTS, 0), LogClock())]
        self.start()

    def start(self, back: int = 0) -> None:
        """Start a driver from the newest checkpoint, or from one that is ``back`` batches older."""
        self.checkpoints = self.checkpoints[: max(1, len(self.checkpoints) - back)]
        self.log.generations += 1
        self.generation = self.log.generations
        self.ticked_ms = self.log.now_ms - 10_000

    @property
    def rules(self) -> EngineRules:
        """What this driver gives to each step."""
        return EngineRules(self.generation, STRATEGIES, chain_cap=self.chain_cap)

    def tick(self) -> None:
        """Append a tick when one is due."""
        if self.log.now_ms - self.ticked_ms >= 1_000:
            self.ticked_ms = self.log.now_ms
            self.log.append("heartbeats", Tick(self.generation))

    def batch(self, *, killed: bool = False, whole: bool = False) -> None:
        """Read up to a cut, step, write; a driver that is killed has written but not committed."""
        last = self.checkpoints[-1]
        clock = copy(last.clock)
        end = {topic: self._cut(topic, last.places[topic], whole=whole) for topic in INPUTS}
        arrivals = self.log.arrivals(last.places, end, clock)
        state = last.state
        due = state is not None and (
            clock.clock_ms >= due_ms(state, self.rules) or state.generation < self.generation
        )
        if arrivals or due:
            moment = Moment(clock.clock_ms, clock.append_ms or 0, clock.marker)
            result = step(state, arrivals, moment, self.rules)
            state = result.state
            if state is not None:
                check(state, self.rules)
            for output in result.outputs:
                if isinstance(output, Assignment | Notice):
                    if self.rng.random() >= self.lose_output:
                        self.log.told.append(output)
                elif isinstance(output, Request):
                    self.log.answer(output.what)
        if not killed:
            self.checkpoints.append(Checkpoint(state, end, clock))
            del self.checkpoints[:-6]

    def _cut(self, topic: str, place: int, *, whole: bool) -> int:
        end = len(self.log.inputs[topic])
        return end if whole or self.rng.random() < 0.7 else self.rng.randint(place, end)

    @property
    def state(self) -> GroupState | None:
        """The newest committed state."""
        return self.checkpoints[-1].state
