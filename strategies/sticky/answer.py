"""Turns STICKY's owners into the answer that the engine reads.

It decides nothing. Big groups are expensive here: the answer for 10,000 members and 100,000 queues
has as many small tuples, which all live until the engine has read them.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from fairlead.core.model import MessageQueue
from strategies.sticky.numbered_request import NumberedRequest

__all__ = ["shares_of"]


def shares_of(
    numbered: NumberedRequest, owner: list[int]
) -> dict[str, dict[str, tuple[MessageQueue, ...]]]:
    """Return topic -> client id -> queues in queue order, for clients that own something."""
    # The last name stands for NOBODY.
    names: list[str | None] = [*numbered.client_ids, None]
    owners = list(map(names.__getitem__, owner))
    topics = {}
    with _collector_waits():
        for share in numbered.topics:
            part = slice(share.start, share.stop)
            shares = _shares(owners[part], numbered.queues[part])
            shares.pop(None, None)
            topics[share.topic] = cast("dict[str, tuple[MessageQueue, ...]]", shares)
    return topics


def _shares(
    owners: list[str | None], queues: list[MessageQueue]
) -> dict[str | None, tuple[MessageQueue, ...]]:
    """Return the queues of each owner."""
    # In a big group a client mostly has only one queue of a topic.
    alone = dict(zip(owners, zip(queues), strict=True))
    if len(alone) == len(owners):
        return cast("dict[str | None, tuple[MessageQueue, ...]]", alone)
    owned: dict[str | None, list[MessageQueue]] = {name: [] for name in alone}
    for name, queue in zip(owners, queues, strict=True):
        owned[name].append(queue)
    return {name: tuple(held) for name, held in owned.items()}


@contextmanager
def _collector_waits() -> Iterator[None]:
    """Pause Python's garbage collector, since building the answer creates no garbage.

    It would scan all new tuples again and again, and everything else once, which takes as long as
    the whole allocation.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
