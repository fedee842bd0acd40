"""Compares a group before and after a change: who gains what, what moves, how even it is."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fairlead.core.allocation import AllocationError
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order, queue_order
from fairlead.planning.picture import Picture, UnknownStrategyError, owners_of

__all__ = ["MemberPlan", "Plan", "plan"]

MINIMAL = "STICKY"
"""The strategy that moves no queue more than an even share asks for."""


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """What changes for one member; queues in RocketMQ's order."""

    client_id: str
    before: tuple[MessageQueue, ...]
    after: tuple[MessageQueue, ...]

    @property
    def gained(self) -> tuple[MessageQueue, ...]:
        """What it has not now."""
        return tuple(queue for queue in self.after if queue not in self.before)

    @property
    def lost(self) -> tuple[MessageQueue, ...]:
        """What it has now and would not have."""
        return tuple(queue for queue in self.before if queue not in self.after)


@dataclass(frozen=True, slots=True)
class Plan:
    """A change, worked out.

    Attributes:
        members: of before and after, sorted as RocketMQ sorts them.
        moves: queues with another owner than now, those of members that leave among them.
        minimum: the least possible for an even share; None if that strategy fails or is not there.
        spread_before: queues of the member that has most less those of the one that has least.
        spread_after: the same, after the change.
        orphans: queues that would belong to nobody.
        failures: topics that cannot be allocated, with the reason; they keep what they have.
    """

    members: tuple[MemberPlan, ...]
    moves: int
    minimum: int | None
    spread_before: int
    spread_after: int
    orphans: int
    failures: Mapping[str, str]

    def document(self) -> dict[str, Any]:
        """The plan as JSON."""
        return {
            "members": [
                {
                    "client_id": member.client_id,
                    **{
                        name: [list(queue) for queue in getattr(member, name)]
                        for name in ("before", "after", "gained", "lost")
                    },
                }
                for member in self.members
            ],
            "moves": self.moves,
            "minimum": self.minimum,
            "spread": {"before": self.spread_before, "after": self.spread_after},
            "orphans": self.orphans,
            "failures": dict(self.failures),
        }


def plan(before: Picture, after: Picture) -> Plan:
    """Work a change out; the owners of ``before`` are those of now.

    Raises:
        UnknownStrategyError: the strategy after the change does not exist.
        AllocationError: its options are bad.
    """
    allocation = after.allocation()
    owners = owners_of(allocation)
    for topic in allocation.failures:
        # As in the engine: what cannot be allocated keeps its last assignment.
        kept = {q: who for q, who in before.owners.items() if q.topic == topic}
        owners |= {queue: who for queue, who in kept.items() if queue in after.queues}
    return Plan(
        members=_members(before, after, owners),
        moves=_moves(before, after, owners),
        minimum=_minimum(before, after),
        spread_before=_spread(before, before.owners),
        spread_after=_spread(after, owners),
        orphans=sum(1 for queue in after.queues if queue not in owners),
        failures={topic: error.message for topic, error in allocation.failures.items()},
    )


def _members(
    before: Picture, after: Picture, owners: Mapping[MessageQueue, str]
) -> tuple[MemberPlan, ...]:
    names = sorted({*before.members, *after.members}, key=java_order)
    return tuple(
        MemberPlan(client_id, _owned(before.owners, client_id), _owned(owners, client_id))
        for client_id in names
    )


def _owned(owners: Mapping[MessageQueue, str], client_id: str) -> tuple[MessageQueue, ...]:
    return tuple(
        sorted((queue for queue, who in owners.items() if who == client_id), key=queue_order)
    )


def _moves(before: Picture, after: Picture, owners: Mapping[MessageQueue, str]) -> int:
    return sum(
        1
        for queue, who in before.owners.items()
        if queue in after.queues and owners.get(queue) != who
    )


def _minimum(before: Picture, after: Picture) -> int | None:
    options = after.options if after.strategy == MINIMAL else {}
    try:
        allocation = replace(after, strategy=MINIMAL, options=options).allocation()
    except (AllocationError, UnknownStrategyError):
        return None
    return _moves(before, after, owners_of(allocation))


def _spread(picture: Picture, owners: Mapping[MessageQueue, str]) -> int:
    counts = Counter(owners.values())
    held = [counts[client_id] for client_id in picture.members]
    return max(held, default=0) - min(held, default=0)
