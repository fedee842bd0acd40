"""The digest of a client's queues, by which the engine notices a lost or late record."""

from collections.abc import Iterable
from hashlib import sha256

from fairlead_client.model import Epoch, Queue


def digest(entries: Iterable[tuple[Queue, Epoch, str]]) -> str:
    """Return the 16 hexadecimal digits of protocol §2 for entries (queue, epoch, state).

    The digest is a sum, so the order of the entries does not matter.

    >>> digest([])
    '0000000000000000'
    """
    total = 0
    for (topic, broker_name, queue_id), (generation, number), state in entries:
        text = f"{topic}\n{broker_name}\n{queue_id}\n{generation}\n{number}\n{state}"
        total += int.from_bytes(sha256(text.encode()).digest()[:8])
    return f"{total % 2**64:016x}"
