"""AVG_BY_CIRCLE deals the queues to the clients in turn, round and round.

Source: AllocateMessageQueueAveragelyByCircle#allocate: the client at place i gets each queue at a
place p >= i with p mod N = i. The only goal is RocketMQ's exact result. Neighbouring queues go to
different clients, so clients share a hot broker; a join or a leave moves nearly every queue.

Oddity: a duplicated id gets the queues of its first place, and nobody gets those of its second.

>>> queues = [MessageQueue("orders", "main", number) for number in range(5)]
>>> [queue.queue_id for queue in averagely_by_circle(queues, ["a", "b"], {})("a")]
[0, 2, 4]
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fairlead.core.model import MessageQueue
from strategies.dealing import Dealing, PerTopic, by_place
from strategies.options import refuse_unknown

__all__ = ["AVERAGELY_BY_CIRCLE", "averagely_by_circle"]


def averagely_by_circle(
    queues: Sequence[MessageQueue], client_ids: Sequence[str], options: Mapping[str, Any]
) -> Dealing:
    """Deal in turn; both lists keep their given order. AVG_BY_CIRCLE has no options."""
    refuse_unknown(options)
    return by_place(queues, client_ids, lambda place: queues[place :: len(client_ids)])


AVERAGELY_BY_CIRCLE = PerTopic("AVG_BY_CIRCLE", averagely_by_circle)
