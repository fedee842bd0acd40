"""What a group remembers of who shares its queues out: the engine, or RocketMQ inside its clients.

Values alone; :mod:`fairlead.core.footing` decides (ADR 0245).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from fairlead.core.model import NOTHING, Epoch, MemberKey
from fairlead.core.standby_records import FormerQueue, StandbyState

__all__ = ["ClusterLooks", "Footing", "HeldFrozen", "Said", "Standing"]


class Footing(StrEnum):
    """Who shares the queues of a group out."""

    FOLLOWING = "following"
    """RocketMQ's strategy inside each client."""
    FREEZING = "freezing"
    """Nobody: each client keeps what it holds, and tells the engine what that is."""
    CONFIRMING = "confirming"
    """The engine; but it moves nothing until each client has said that it knows."""
    OWN = "own"
    """The engine."""
    RETURNING = "returning"
    """The engine, as RocketMQ's strategy would."""


class Said(NamedTuple):
    """What a member that stands by does, by its newest heartbeat, and the generation it knew.

    ``confirmed``: it works under the grants of the take-over.
    """

    state: StandbyState
    generation: int
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class HeldFrozen:
    """What a frozen member holds, as far as its parts were read."""

    parts: int
    read: Mapping[int, tuple[FormerQueue, ...]]

    @property
    def complete(self) -> bool:
        """Whether every part was read."""
        return len(self.read) == self.parts

    @property
    def queues(self) -> list[FormerQueue]:
        """All queues, in the order of the parts."""
        return [entry for _, held in sorted(self.read.items()) for entry in held]


@dataclass(frozen=True, slots=True)
class ClusterLooks:
    """The newest look of one cluster at the group's members, and how often it was the same.

    ``append_ms``: when it was appended. ``listed``: each id on any broker -> the append time of the
    look since which every one has had it. ``even``: every broker has answered, with the same ids,
    and none was left out. ``counted``: so many even looks in a row had these ids since the group
    last changed; 2 at most.
    """

    bridge: str
    look: int
    append_ms: int
    listed: Mapping[str, int]
    complete: bool
    even: bool
    counted: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """Who shares the queues out, and what leads to a change of that.

    ``footing`` None: the engine always did. ``epoch`` and ``since_ms``: of the decision that began
    it. ``retry_ms``: no take-over begins before. ``because``: why the last one failed. ``who``: a
    hash of the members; ``changed_ms``: the append time at which they last changed, or an answer
    came: only later looks count. ``gone``: the id of a member that is gone -> until which clock it
    counts as known. ``foreign``: ids of nobody that have been listed for too long.
    """

    footing: Footing | None = None
    epoch: Epoch = NOTHING
    since_ms: int = 0
    retry_ms: int = 0
    because: str = ""
    who: str = ""
    changed_ms: int = 0
    said: Mapping[MemberKey, Said] = field(default_factory=dict)
    formers: Mapping[MemberKey, HeldFrozen] = field(default_factory=dict)
    looks: Mapping[str, ClusterLooks] = field(default_factory=dict)
    gone: Mapping[str, int] = field(default_factory=dict)
    foreign: tuple[str, ...] = ()

    @property
    def is_theirs(self) -> bool:
        """Whether the engine has granted nothing: clients work on by themselves."""
        return self.footing in (Footing.FOLLOWING, Footing.FREEZING)
