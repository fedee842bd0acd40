"""The order in which RocketMQ sorts names and queues.

RocketMQ sorts client ids with ``String.compareTo`` and queues with ``MessageQueue#compareTo``. Both
compare UTF-16 code units, which differs from Python's code points above the basic plane.
"""

from fairlead.core.model import MessageQueue

__all__ = ["java_order", "queue_order"]


def java_order(text: str) -> bytes:
    """Return the sort key that puts strings in the order of Java's ``String#compareTo``."""
    return text.encode("utf-16-be", "surrogatepass")


def queue_order(queue: MessageQueue) -> tuple[bytes, bytes, int]:
    """Return the sort key of ``MessageQueue#compareTo``: topic, broker name, queue id."""
    return (java_order(queue.topic), java_order(queue.broker_name), queue.queue_id)
