"""One step of one part of a world, and what it does besides moving that part."""

from enum import IntEnum
from typing import NamedTuple

from fairlead.core.model import Epoch, Position

__all__ = ["Cost", "Effect", "Kind", "Step"]


class Kind(IntEnum):
    """Whether a step must come some time, or may."""

    FAIR = 0
    """It comes if it can for long enough: a group must converge by these alone."""
    CHANCE = 1
    """It may come: a release that a gated client reads, progress, a message that is processed."""
    DEFECT = 2
    """The real code raised: a violation by itself."""


class Cost(IntEnum):
    """Which bound of the world a step uses up."""

    NOTHING = 0
    MOVE = 1
    DEATH = 2
    """Without a word: messages may be repeated from here on."""
    LEAVE = 3
    LOSS = 4
    COMEBACK = 5
    RESET = 6
    MUTE = 7
    RECORD = 8


class Effect(NamedTuple):
    """What a client's step does to a queue: it starts at a position, or processes up to one."""

    queue: int
    started: Epoch | None
    position: Position


class Step(NamedTuple):
    """A step of one client or engine: to which of its states, and what it writes."""

    label: str
    to: int
    facts: int = 0
    kind: Kind = Kind.FAIR
    effects: tuple[Effect, ...] = ()
    cost: Cost = Cost.NOTHING
    detail: object = None
    """Of a move the new targets, of a reset the queue and the position that is asked for."""

    def matters(self, state: int, facts: int) -> bool:
        """Whether it leads from this state elsewhere, writes what is not there, or breaks."""
        return self.to != state or bool(self.facts & ~facts) or self.kind is Kind.DEFECT
