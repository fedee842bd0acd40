"""AVG: contiguous blocks in the order of the client ids, RocketMQ's default.

Source: AllocateMessageQueueAveragely#allocate and AbstractAllocateMessageQueueStrategy#check
(rocketmq-client). With M queues and N clients each client gets M // N queues, the first M mod N
clients one more; with M < N the first M clients get one each. Goals, in order: RocketMQ's result to
the letter. It does not look at current owners, so a join or a leave moves many queues.

>>> queues = [MessageQueue("orders", "main", number) for number in range(5)]
>>> [queue.queue_id for queue in averagely("b", queues, ["a", "b"])]
[3, 4]
"""

from collections.abc import Sequence

from fairlead.core.allocation import (
    Allocation,
    AllocationError,
    AllocationRequest,
)
from fairlead.core.model import MessageQueue

__all__ = ["Averagely", "averagely"]


def averagely(
    client_id: str, queues: Sequence[MessageQueue], client_ids: Sequence[str]
) -> tuple[MessageQueue, ...]:
    """Return the share of one client, as one call of RocketMQ's strategy returns it.

    Both lists are taken in the order given; the caller sorts. A duplicated id counts as its first
    place; an id that is not among ``client_ids`` gets nothing.

    Raises: AllocationError: ``client_id_empty``, ``queues_empty`` or ``clients_empty``, in this
    order of precedence.
    """
    if not client_id:
        raise AllocationError("client_id_empty", "currentCID is empty")
    if not queues:
        raise AllocationError("queues_empty", "mqAll is null or mqAll empty")
    if not client_ids:
        raise AllocationError("clients_empty", "cidAll is null or cidAll empty")
    if client_id not in client_ids:
        return ()
    index = client_ids.index(client_id)
    share, rest = divmod(len(queues), len(client_ids))
    size = share + 1 if index < rest else share
    if len(queues) <= len(client_ids):
        size = 1
    start = index * size if index < rest else index * size + rest
    return tuple(queues[start : start + size])


class Averagely:
    """The strategy AVG for all topics of a group: each topic is shared on its own."""

    name = "AVG"

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Share each topic among its subscribers.

        Or among the whole group where the rules say so.
        """
        topics = {}
        failures = {}
        for topic, queues in request.queues.items():
            ids = [
                candidate.client_id
                for candidate in request.candidates
                if request.slots == "group" or topic in candidate.topics
            ]
            try:
                topics[topic] = {client_id: averagely(client_id, queues, ids) for client_id in ids}
            except AllocationError as error:
                failures[topic] = error
        return Allocation(topics, failures)
