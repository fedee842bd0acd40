"""The shape of Kafka's RoundRobinAssignor: all partitions dealt in turn, over all topics.

Source: org.apache.kafka.clients.consumer.RoundRobinAssignor#assign: topics by name, partitions by
number; the members by id; a member that does not subscribe to the topic is passed over.
"""

from itertools import cycle

from fairlead.core.allocation import Allocation, AllocationRequest
from fairlead.core.model import MessageQueue

__all__ = ["RoundRobin"]


class RoundRobin:
    """Deals every queue to the next subscriber."""

    name = "KAFKA_ROUND_ROBIN"

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Deal all topics."""
        topics: dict[str, dict[str, list[MessageQueue]]] = {}
        turn = cycle(request.candidates)
        for topic in sorted(request.queues):
            shares = topics.setdefault(topic, {})
            if not any(topic in each.topics for each in request.candidates):
                continue
            for queue in request.queues[topic]:
                taker = next(each for each in turn if topic in each.topics)
                shares.setdefault(taker.client_id, []).append(queue)
        return Allocation(
            {
                topic: {client_id: tuple(held) for client_id, held in shares.items()}
                for topic, shares in topics.items()
            }
        )
