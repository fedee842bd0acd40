"""What a group tells of its footing: who reads in the data plane, and what was held when it froze.

The records of :mod:`fairlead.core.records` that concern members with *standby*: clients that can
follow the strategy by which the data plane shares queues out without Fairlead (ADR 0245).
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position

__all__ = ["BrokerMembers", "Former", "FormerQueue", "MembersLook", "StandbyState"]

StandbyState = Literal["wait", "follow", "freeze", "own"]
"""What a member with standby does: nothing yet, its former strategy, nothing new, its grants."""


class BrokerMembers(NamedTuple):
    """The members of a group that one broker of the data plane lists, sorted."""

    broker_name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MembersLook:
    """A bridge tells who is in a group as its cluster lists them.

    ``bridge`` is a uuid of an unbroken row of looks, in which ``look`` grows; each was begun when
    the one before was appended. ``complete``: every broker of the group's topics has answered.
    ``at_ms``: the bridge's time of the look, for people alone: its clock may be wrong. ``look`` 0:
    the bridge has withdrawn what it said.
    """

    group: str
    cluster: str
    bridge: str
    look: int
    complete: bool
    brokers: tuple[BrokerMembers, ...]
    at_ms: int


@dataclass(frozen=True, slots=True)
class FormerQueue:
    """One queue that a member holds frozen.

    ``position`` None: it does not know how far it is. ``identity`` is the topic's; None: the member
    does not say it.
    """

    queue: MessageQueue
    position: Position | None
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Former:
    """One part of a member's answer to a freeze: all that it holds; it takes nothing more.

    ``epoch`` is that of the freeze.
    """

    group: str
    member: MemberKey
    epoch: Epoch
    part: int
    parts: int
    queues: tuple[FormerQueue, ...]
