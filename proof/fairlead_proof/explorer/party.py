"""What the clients of a world and its engines have in common: numbered states, remembered steps.

A state is numbered when it is met first. What a fact leads to in it is computed once, when somebody
asks.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from fairlead_proof.explorer.facts import Facts, bits
from fairlead_proof.explorer.steps import Step
from fairlead_proof.explorer.world import World

__all__ = ["DEAF", "WAITS", "Half", "Read"]

State = TypeVar("State")


class Read(NamedTuple):
    """What a fact means to a state.

    ``step``: what reading it leads to, None: nothing. ``alive``: it may yet have an effect, now or
    later.
    """

    step: Step | None
    alive: bool


DEAF = Read(None, alive=False)
WAITS = Read(None, alive=True)


@dataclass(slots=True)
class Half(ABC, Generic[State]):
    """All states of one kind that were met, and the steps between them."""

    world: World
    facts: Facts
    states: list[State] = field(default_factory=list)
    reads: list[dict[int, Step]] = field(default_factory=list)
    """Of each state what follows from reading a fact, for those that have an effect."""
    alive: list[int] = field(default_factory=list)
    """Of each state the facts looked at that may yet have an effect, now or later."""
    _numbers: dict[Any, int] = field(default_factory=dict)
    _looked: list[int] = field(default_factory=list)
    """Of each state the facts of which it is known whether they have an effect."""
    _effective: list[int] = field(default_factory=list)

    @abstractmethod
    def readable(self) -> int:
        """Return the facts that this half reads at all."""

    @abstractmethod
    def read(self, state: int, number: int) -> Read:
        """Return what a fact means to a state; this runs the real code."""

    def look(self, state: int, facts: int) -> int:
        """Return those of the facts that have an effect in this state."""
        unknown = facts & ~self._looked[state]
        if unknown:
            for number in bits(unknown & self.readable()):
                self._look(state, number)
        return facts & self._effective[state]

    def numbered(self, name: Any, make: Callable[[], State]) -> int:
        """Return the number of the state of this name, made if it was not met before."""
        known = self._numbers.get(name)
        if known is not None:
            return known
        number = self._numbers[name] = len(self.states)
        self.states.append(make())
        self.reads.append({})
        self.alive.append(0)
        self._looked.append(0)
        self._effective.append(0)
        return number

    def _look(self, state: int, number: int) -> None:
        bit = 1 << number
        self._looked[state] |= bit
        step, alive = self.read(state, number)
        if step is not None:
            self.reads[state][number] = step
            self._effective[state] |= bit
        if alive:
            self.alive[state] |= bit
