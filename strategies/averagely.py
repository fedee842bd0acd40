"""AVG gives each client a contiguous block, in the order of the client ids; RocketMQ's default.

Source: AllocateMessageQueueAveragely#allocate. With M queues and N clients each client gets M // N
queues, the first M mod N clients one more; with M < N the first M clients get one each. The only
goal is RocketMQ's exact result. AVG ignores the current owners, so a join or a leave moves many
queues.

Oddity: a duplicated id gets the share of its first place, and nobody gets that of its second.

>>> queues = [MessageQueue("orders", "main", number) for number in range(5)]
>>> [queue.queue_id for queue in averagely(queues, ["a", "b"], {})("b")]
[3, 4]
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fairlead.core.model import MessageQueue
from strategies.dealing import Dealing, PerTopic, by_place
from strategies.options import refuse_unknown

__all__ = ["AVERAGELY", "averagely"]


def averagely(
    queues: Sequence[MessageQueue], client_ids: Sequence[str], options: Mapping[str, Any]
) -> Dealing:
    """Deal contiguous blocks; both lists keep their given order. AVG has no options."""
    refuse_unknown(options)

    def block(index: int) -> Sequence[MessageQueue]:
        each, rest = divmod(len(queues), len(client_ids))
        size = each + 1 if index < rest else each
        start = index * size if index < rest else index * size + rest
        return queues[start : start + size]

    return by_place(queues, client_ids, block)


AVERAGELY = PerTopic("AVG", averagely)
