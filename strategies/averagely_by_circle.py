"""AVG_BY_CIRCLE: queues are dealt one after another, round and round.

Source: AllocateMessageQueueAveragelyByCircle#allocate: the client at place i takes each queue at a
place p >= i with p mod N = i. Goals, in order: RocketMQ's result to the letter. Neighbouring queues
go to different clients, so a hot broker is shared; a join or a leave moves nearly every queue.

Oddity: a duplicated id takes what falls to its first place, and nobody gets what falls to its
second.

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
    """Deal round and round; both lists are taken in the order given. It has no options."""
    refuse_unknown(options)
    return by_place(queues, client_ids, lambda place: queues[place :: len(client_ids)])


AVERAGELY_BY_CIRCLE = PerTopic("AVG_BY_CIRCLE", averagely_by_circle)
