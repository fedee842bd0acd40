"""The digest by which a client and the engine compare what the client holds.

It is a sum over the entries, so it needs neither an order nor the set. The protocol defines it.
"""

from collections.abc import Iterable
from hashlib import sha256

from fairlead.core.model import Epoch, MessageQueue

__all__ = ["Entry", "digest"]

Entry = tuple[MessageQueue, Epoch, str]
"""(queue, epoch of its grant, ``held`` | ``draining`` | ``gated``)."""


def digest(entries: Iterable[Entry]) -> int:
    """Return the 64-bit digest of the entries; 0 for none."""
    total = 0
    for queue, epoch, state in entries:
        text = (
            f"{queue.topic}\n{queue.broker_name}\n{queue.queue_id}\n"
            f"{epoch.generation}\n{epoch.number}\n{state}"
        )
        total += int.from_bytes(sha256(text.encode()).digest()[:8], "big")
    return total & 0xFFFF_FFFF_FFFF_FFFF
