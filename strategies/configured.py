"""CONFIG gives every client the configured list, whatever queues and clients exist.

Source: AllocateMessageQueueByConfig#allocate, which checks nothing. The only goal is RocketMQ's
exact result. It suits tests with one client: two clients would both own the whole list. In a group
the engine refuses that (``two_owners``) and keeps the last assignment.

Option ``queues``: the list, each queue as [topic, broker_name, queue_id]. Without the option the
list is empty, as in RocketMQ.

>>> wanted = {"queues": [["orders", "main", 7]]}
>>> configured([], [], wanted)("anybody")
(MessageQueue(topic='orders', broker_name='main', queue_id=7),)
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fairlead.core.allocation import Allocation, AllocationRequest
from fairlead.core.model import MessageQueue
from strategies.dealing import Dealing, PerTopic
from strategies.options import bad_option, queue_of, refuse_unknown

__all__ = ["CONFIGURED", "Configured", "configured", "only_of_topic"]


def configured(
    _queues: Sequence[MessageQueue], _client_ids: Sequence[str], options: Mapping[str, Any]
) -> Dealing:
    """Deal the configured list to every client."""
    refuse_unknown(options, "queues")
    listed = options.get("queues")
    if listed is None:
        listed = ()
    if not isinstance(listed, list | tuple):
        raise bad_option("queues", "a list of queues")
    queues = tuple(queue_of(queue, f"queues[{number}]") for number, queue in enumerate(listed))

    def share(_client_id: str) -> tuple[MessageQueue, ...]:
        return queues

    return share


class Configured(PerTopic):
    """CONFIG for a group: each topic gets the queues of the list that belong to it and exist."""

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Deal the list; RocketMQ, too, removes queues of other topics in the same run."""
        return only_of_topic(super().allocate(request), request)


def only_of_topic(allocation: Allocation, request: AllocationRequest) -> Allocation:
    """Return an allocation in which each topic has only its queues of the request."""
    topics = {
        topic: {
            client_id: tuple(queue for queue in queues if queue in request.queues[topic])
            for client_id, queues in shares.items()
        }
        for topic, shares in allocation.topics.items()
    }
    return Allocation(topics, allocation.failures)


CONFIGURED = Configured("CONFIG", configured)
