"""Choosing a queue by what a message is about: by hash, or by the application's own function.

Who chooses chooses alone, as in RocketMQ (MessageQueueSelector): no other queue is tried, and
neither latency nor failures count, so that messages of one key stay in one queue.
"""

from collections.abc import Callable, Sequence

from fairlead_client.errors import SettingsError
from fairlead_client.model import Queue
from fairlead_client.produce.java_number import hash_code
from fairlead_client.produce.queue_selection import NoQueueError

QueueSelector = Callable[[Sequence[Queue]], Queue]
"""Returns one of the queues of the topic's publish info."""


def by_hash(arg: str | int) -> QueueSelector:
    """Return the selector of SelectMessageQueueByHash: |hash(arg) mod n|, with Java's hash code.

    Raises:
        SettingsError: the argument has no hash code of Java.

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
        SettingsError: it is none of them.
    """
    if not queues:
        raise NoQueueError(0)
    chosen = selector(queues)
    if chosen not in queues:
        raise SettingsError(
            "selector", f"it returned {chosen!r}", "return one of the queues that it was given"
        )
    return chosen
