"""The numbers of one group: what a line of a list and the metrics are made of."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fairlead.core.model import MessageQueue
from fairlead.observed.members import Roll
from fairlead.observed.ownership import Holds
from fairlead.observed.summary import GroupSummary

__all__ = ["HELD_PHASES", "GroupFigures", "Standing", "TopicFigures", "unassigned_of"]

HELD_PHASES: Final = (
    "paused", "quarantined", "recovering", "settling",
    "waiting_for_route", "waiting_for_offsets", "waiting_for_clients",
)  # fmt: skip
"""In which a group is not at rest, and may have queues with nobody, for a reason that is known."""


@dataclass(frozen=True, slots=True)
class TopicFigures:
    """One topic of a group.

    Attributes:
        queues: those that its members share.
        unassigned: of these, which nobody holds and nobody is granted.
        lag_messages: over all queues whose lag is known; None: of none is it.
        lag_seconds: the longest of any queue; None: of none is it known.
        lag_at_least: the longest may be more: the end is remembered no longer.
    """

    topic: str
    queues: int
    unassigned: int
    lag_messages: int | None
    lag_seconds: float | None
    lag_at_least: bool

    def document(self) -> dict[str, str | float | bool | None]:
        """Return it as JSON values."""
        return {
            "topic": self.topic,
            "queues": self.queues,
            "unassigned": self.unassigned,
            "lag_messages": self.lag_messages,
            "lag_seconds": self.lag_seconds,
            "lag_at_least": self.lag_at_least,
        }


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """One group in numbers.

    Attributes:
        summary: the line about it.
        topics: in their order.
        draining: queues that are given up and of which nobody is granted the next turn.
        gated: queues whose successor waits for their release.
        generation: of the newest decision; 0: there is none.
        decided_ms: when the newest decision was appended; None: there is none.
        disagree: members have different values of what they are meant to agree on.
    """

    summary: GroupSummary
    topics: tuple[TopicFigures, ...]
    draining: int
    gated: int
    generation: int
    decided_ms: int | None
    disagree: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """How a group stands, whatever time it is.

    Attributes:
        roll: who is in it.
        holds: who holds what.
        phase: as :class:`~fairlead.observed.summary.GroupSummary` has it, and likewise ``mode``.
        mode: how queues are handed over.
        converged: nothing is on its way, and each live member holds what it was told.
        queues: of each topic that it shares, by its route.
        unassigned: of these, which nobody holds and nobody is granted.
        idle: members that could own a queue and own none.
        skew: most queues of a member less fewest, of those that could own one.
    """

    roll: Roll
    holds: Holds
    phase: str
    mode: str
    converged: bool
    queues: dict[str, tuple[MessageQueue, ...]]
    unassigned: Counter[str]
    idle: int
    skew: int

    def ownerless(self) -> Iterator[MessageQueue]:
        """Yield the queues that nobody holds and nobody is granted; of no members, none."""
        if self.roll.members:
            for queues in self.queues.values():
                yield from (queue for queue in queues if queue not in self.holds.queues)


def unassigned_of(
    queues: dict[str, tuple[MessageQueue, ...]], roll: Roll, holds: Holds
) -> Counter[str]:
    """Return how many queues of each topic nobody holds; without members none is missed."""
    found: Counter[str] = Counter()
    if roll.members:
        for topic, shared in queues.items():
            found[topic] = sum(queue not in holds.queues for queue in shared)
    return found
