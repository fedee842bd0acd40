"""Which queue a user means: by its full name, or by a shorter one if that is enough."""

from collections.abc import Collection, Iterable

from fairlead.core.model import MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.core.topics.retry_topic import RETRY_TOPIC_PREFIX
from fairlead.history.formatting import queue_words

__all__ = ["UnknownQueueError", "queue_named"]

_FOUND_MAX = 3


class UnknownQueueError(LookupError):
    """A text names no queue, or more than one of the ``known`` ones."""

    def __init__(self, text: str, detail: str, known: Collection[MessageQueue]) -> None:
        super().__init__(f"{text}: {detail}")
        self.known = known


def queue_named(
    text: str, known: Collection[MessageQueue], unrouted: Collection[str] = ()
) -> MessageQueue:
    """Return the queue that a text names: ``topic/broker/3``, ``topic/3`` or ``3``.

    A bare number means a queue of a retry topic only if no other topic of the group has that
    number: nobody names retry topics. ``unrouted``: topics that the group shares and whose queues
    nobody has told.

    Raises:
        UnknownQueueError: it names none of the known queues, or several.

    >>> queue_named("3", [MessageQueue("orders", "main", 3)])
    MessageQueue(topic='orders', broker_name='main', queue_id=3)
    >>> retry = MessageQueue("%RETRY%orders", "main", 3)
    >>> queue_named("3", [retry]).topic
    '%RETRY%orders'
    >>> queue_named("3", [retry, MessageQueue("orders", "main", 3)]).topic
    'orders'
    """
    if text.isascii() and text.isdigit():
        numbered = sorted((each for each in known if each.queue_id == int(text)), key=queue_order)
        own = [each for each in numbered if not each.topic.startswith(RETRY_TOPIC_PREFIX)]
        matching = own or numbered
    else:
        matching = [each for each in known if text in (queue_words(each), _without_broker(each))]
    if len(matching) > 1:
        raise UnknownQueueError(text, f"it may be {_listed(matching)}", known)
    if not matching:
        untold = [each for each in unrouted if text == each or text.startswith(f"{each}/")]
        if text.isdigit():
            untold = list(unrouted)
        why = f", and no bridge has told the route of {', '.join(untold)}" if untold else ""
        raise UnknownQueueError(text, f"the group has no such queue{why}", known)
    return matching[0]


def _without_broker(queue: MessageQueue) -> str:
    """Write a queue as Kafka's users know it: topic and partition."""
    return f"{queue.topic}/{queue.queue_id}"


def _listed(queues: Iterable[MessageQueue]) -> str:
    words = [queue_words(each) for each in queues]
    more = [f"{len(words) - _FOUND_MAX} more"] if len(words) > _FOUND_MAX else []
    return " or ".join([*words[:_FOUND_MAX], *more])
