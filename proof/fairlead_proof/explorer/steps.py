"""One step of one part of a world, and its other effects."""

from enum import IntEnum
from typing import NamedTuple

from fairlead.core.model import Epoch, Position

__all__ = ["Cost", "Effect", "Kind", "Step"]


class Kind(IntEnum):
    """Whether a step must happen at some time, or may."""

    FAIR = 0
    """It happens if it stays possible: a group must converge by fair steps alone."""
    CHANCE = 1
    """It may happen: a gated client reads a release, a client makes progress."""
    DEFECT = 2
    """The real code raised an exception, which is a violation."""


class Cost(IntEnum):
    """The bound of the world that a step uses up."""

    NOTHING = 0
    MOVE = 1
    DEATH = 2
    """A crash or a lost lease: messages may be repeated from here on."""
    LEAVE = 3
    LOSS = 4
    COMEBACK = 5
    RESET = 6
    MUTE = 7
    RECORD = 8


class Effect(NamedTuple):
    """A client's effect on a queue: it starts at a position, or processes up to one."""

    queue: int
    started: Epoch | None
    position: Position


class Step(NamedTuple):
    """A step of one client or engine: its next state, and the facts that it writes."""

    label: str
    to: int
    facts: int = 0
    kind: Kind = Kind.FAIR
    effects: tuple[Effect, ...] = ()
    cost: Cost = Cost.NOTHING
    back: bool = False
    """Whether it takes something back: an answer is lost. Such steps alone may go round."""
    detail: object = None
    """For a move the new targets; for a reset the queue and the position."""

    def matters(self, state: int, facts: int) -> bool:
        """Whether it changes the state, writes a new fact, or is a defect."""
        return self.to != state or bool(self.facts & ~facts) or self.kind is Kind.DEFECT
