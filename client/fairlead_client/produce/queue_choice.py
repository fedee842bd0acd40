"""Chooses a queue by a hash, or by the application's own function.

As with RocketMQ's MessageQueueSelector, the producer tries no other queue, and ignores latency and
failures, so messages of one key stay in one queue.
"""

from collections.abc import Callable, Sequence

from fairlead_client.errors import SettingsError
from fairlead_client.model import Queue
from fairlead_client.produce.java_number import hash_code
from fairlead_client.produce.queue_selection import NoQueueError

QueueSelector = Callable[[Sequence[Queue]], Queue]
"""`selector(queues)` returns one of the topic's queues."""


def by_hash(arg: str | int) -> QueueSelector:
    """Return a selector for |hash(arg) mod n|, with Java's hash code (SelectMessageQueueByHash).

    Raises:
        SettingsError: the argument is neither a text nor a number, so it has no Java hash code.

    >>> queues = [Queue("orders", "main", number) for number in range(4)]
    >>> by_hash("order-17")(queues).queue_id
    3
    """
    code = abs(hash_code(arg))

    def choose(queues: Sequence[Queue]) -> Queue:
        if not queues:
            raise NoQueueError(0)
        return queues[code % len(queues)]

    return choose


def choose(selector: QueueSelector, queues: Sequence[Queue]) -> Queue:
    """Return the selector's choice, checked.

    Raises:
        NoQueueError: there are no queues.
        SettingsError: the selector returned none of the queues.
    """
    if not queues:
        raise NoQueueError(0)
    chosen = selector(queues)
    if chosen not in queues:
        raise SettingsError(
            "selector", f"it returned {chosen!r}", "return one of the queues that it was given"
        )
    return chosen
