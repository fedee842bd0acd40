"""A group as it is or as it might be: members, queues, owners and strategy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairlead.core.allocation import Allocation, AllocationRequest, Candidate
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order, queue_order
from strategies.registry import STRATEGIES

__all__ = ["Picture", "UnknownStrategyError", "owners_of"]


class UnknownStrategyError(LookupError):
    """There is no strategy of this name; the message names those that there are."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One state of a group.

    Attributes:
        group: its name.
        members: who is in it, by client id.
        queues: the readable queues.
        owners: who holds which queue now.
        strategy: by its name on the wire.
        options: of the strategy.
        slots: ``subscribers`` or ``group``.
    """

    group: str
    members: Mapping[str, Candidate]
    queues: frozenset[MessageQueue]
    owners: Mapping[MessageQueue, str] = field(default_factory=dict)
    strategy: str = "AVG"
    options: Mapping[str, Any] = field(default_factory=dict)
    slots: str = "subscribers"

    def allocation(self) -> Allocation:
        """Return what the strategy answers, asked as the engine asks it.

        Raises:
            UnknownStrategyError: there is none of that name.
            AllocationError: the options are bad.
        """
        strategy = STRATEGIES.get(self.strategy)
        if strategy is None:
            known = ", ".join(sorted(STRATEGIES))
            raise UnknownStrategyError(f"there is no strategy {self.strategy!r}; known: {known}")
        by_topic: dict[str, list[MessageQueue]] = {}
        for queue in sorted(self.queues, key=queue_order):
            by_topic.setdefault(queue.topic, []).append(queue)
        request = AllocationRequest(
            self.group,
            tuple(self.members[client_id] for client_id in sorted(self.members, key=java_order)),
            {topic: tuple(queues) for topic, queues in by_topic.items()},
            {
                queue: client_id
                for queue, client_id in self.owners.items()
                if client_id in self.members and queue in self.queues
            },
            self.slots,
            self.options,
        )
        return strategy.allocate(request)


def owners_of(allocation: Allocation) -> dict[MessageQueue, str]:
    """Return the owner of each queue that has one."""
    return {
        queue: client_id
        for shares in allocation.topics.values()
        for client_id, owned in shares.items()
        for queue in owned
    }
