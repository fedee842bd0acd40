"""How a group stands, whatever the time: the basis of its numbers and its problems."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from fairlead.core.model import MessageQueue
from fairlead.observed.members import LiveMembers
from fairlead.observed.ownership import GroupOwnership

__all__ = ["Standing", "unassigned_of"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a group stands, whatever the time.

    Attributes:
        live_members: who is in it.
        ownership: who holds what.
        phase: as in :class:`~fairlead.observed.summary.GroupSummary`.
        mode: how queues are handed over.
        converged: nothing is moving, and each live member holds its assignment.
        queues: the routed queues of each topic that it shares.
        unassigned: how many of these nobody holds or is granted.
        idle: members that could own a queue and own none.
        skew: the most queues of a member minus the fewest, among those that could own one.
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
        """Yield the queues that nobody holds or is granted; without members, none."""
        if self.live_members.members:
            for queues in self.queues.values():
                yield from (queue for queue in queues if queue not in self.ownership.queues)


def unassigned_of(
    queues: dict[str, tuple[MessageQueue, ...]],
    live_members: LiveMembers,
    ownership: GroupOwnership,
) -> Counter[str]:
    """Return how many queues of each topic nobody holds; without members, none."""
    unassigned: Counter[str] = Counter()
    if live_members.members:
        for topic, shared in queues.items():
            unassigned[topic] = sum(queue not in ownership.queues for queue in shared)
    return unassigned
