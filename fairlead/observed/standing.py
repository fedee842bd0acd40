"""How a group stands, whatever time it is: what its numbers and its problems are made of."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from fairlead.core.model import MessageQueue
from fairlead.observed.members import LiveMembers
from fairlead.observed.ownership import GroupOwnership

__all__ = ["Standing", "unassigned_of"]


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

    live_members: LiveMembers
    ownership: GroupOwnership
    phase: str
    mode: str
    converged: bool
    queues: dict[str, tuple[MessageQueue, ...]]
    unassigned: Counter[str]
    idle: int
    skew: int

    def ownerless(self) -> Iterator[MessageQueue]:
        """Yield the queues that nobody holds and nobody is granted; of no members, none."""
        if self.live_members.members:
            for queues in self.queues.values():
                yield from (queue for queue in queues if queue not in self.ownership.queues)


def unassigned_of(
    queues: dict[str, tuple[MessageQueue, ...]], live_members: LiveMembers, ownership: GroupOwnership
) -> Counter[str]:
    """Return how many queues of each topic nobody holds; without members none is missed."""
    found: Counter[str] = Counter()
    if live_members.members:
        for topic, shared in queues.items():
            found[topic] = sum(queue not in ownership.queues for queue in shared)
    return found
