"""CONFIG: every client gets the list that was configured, whatever there is.

Source: AllocateMessageQueueByConfig#allocate: no check, no look at queues or clients. Goals, in
order: RocketMQ's result to the letter, which is for tests with one client: two clients with one
list would both own all of it. In a group the engine refuses that (``two_owners``) and keeps the
last assignment.

Option ``queues``: the list, each queue as [topic, broker_name, queue_id]. Not configured is an
empty list, as in RocketMQ.

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
    """Deal the configured list to whoever asks."""
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
    """CONFIG for a group: of the list each topic gets what is its own and can be read now."""

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Deal the list; RocketMQ throws queues of other topics out again in the same run."""
        return only_of_topic(super().allocate(request), request)


def only_of_topic(found: Allocation, request: AllocationRequest) -> Allocation:
    """Return an allocation in which each topic has only queues that were asked for."""
    topics = {
        topic: {
            client_id: tuple(queue for queue in queues if queue in request.queues[topic])
            for client_id, queues in shares.items()
        }
        for topic, shares in found.topics.items()
    }
    return Allocation(topics, found.failures)


CONFIGURED = Configured("CONFIG", configured)
