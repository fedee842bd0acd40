"""The common base of a world's clients and engines: numbered states and remembered steps.

A state gets its number when the search first reaches it. The effect of a fact on a state is
computed once, on demand.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from fairlead_proof.explorer.facts import Facts, bits
from fairlead_proof.explorer.steps import Step
from fairlead_proof.explorer.world import WorldBounds

__all__ = ["DEAF", "WAITS", "Party", "Read"]

State = TypeVar("State")


class Read(NamedTuple):
    """The effect of a fact on a state.

    ``step``: the step of reading it; None: no effect. ``alive``: it may have an effect now or
    later.
    """

    step: Step | None
    alive: bool


DEAF = Read(None, alive=False)
WAITS = Read(None, alive=True)


@dataclass(slots=True)
class Party(ABC, Generic[State]):
    """All reached states of one kind, and the steps between them."""

    world: WorldBounds
    facts: Facts
    states: list[State] = field(default_factory=list)
    reads: list[dict[int, Step]] = field(default_factory=list)
    """Per state, the steps of reading facts with an effect."""
    alive: list[int] = field(default_factory=list)
    """Per state, the examined facts that may have an effect now or later."""
    _numbers: dict[Any, int] = field(default_factory=dict)
    _examined: list[int] = field(default_factory=list)
    """Per state, the examined facts."""
    _effective: list[int] = field(default_factory=list)

    @abstractmethod
    def readable(self) -> int:
        """Return the facts that this party reads at all."""

    @abstractmethod
    def read(self, state: int, number: int) -> Read:
        """Return the effect of a fact on a state, by running the real code."""

    def effective(self, state: int, facts: int) -> int:
        """Return the facts among these that have an effect on this state."""
        unknown = facts & ~self._examined[state]
        if unknown:
            for number in bits(unknown & self.readable()):
                self._examine(state, number)
        return facts & self._effective[state]

    def numbered(self, name: Any, make: Callable[[], State]) -> int:
        """Return the number of the state with this name; create the state if it is new."""
        known = self._numbers.get(name)
        if known is not None:
            return known
        number = self._numbers[name] = len(self.states)
        self.states.append(make())
        self.reads.append({})
        self.alive.append(0)
        self._examined.append(0)
        self._effective.append(0)
        return number

    def _examine(self, state: int, number: int) -> None:
        bit = 1 << number
        self._examined[state] |= bit
        step, alive = self.read(state, number)
        if step is not None:
            self.reads[state][number] = step
            self._effective[state] |= bit
        if alive:
            self.alive[state] |= bit
