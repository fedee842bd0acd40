"""CONSISTENT_HASH puts virtual nodes on a ring; a queue belongs to the next node on the ring.

Source: AllocateMessageQueueConsistentHash#allocate, ConsistentHashRouter. Goals, in order:
RocketMQ's exact result; a leave moves only the queues of the client that left. The shares have no
bounds: a client may get nothing even of many queues. These details must be exact:

- The hash is the first four bytes of the MD5 of the UTF-8 text, most significant byte first.
- A client's nodes are ``<client id>-<k>``. k continues from the nodes that this id already has on
  the ring, so a duplicated id has twice as many.
- The clients put their nodes on the ring in order; of two nodes with the same hash the later stays.
- A queue's text is ``MessageQueue [topic=…, brokerName=…, queueId=…]``. The queue belongs to the
  first node whose hash is not less than its own, or else to the first node of the ring.

Option ``virtual_nodes``: the number of nodes per client, by default 10; with 0 nobody gets queues.

>>> queues = [MessageQueue("topic_test", "brokerName", number) for number in range(6)]
>>> dealing = consistent_hash(queues, ["CID-0", "CID-1"], {})
>>> [queue.queue_id for queue in dealing("CID-1")]
[0, 2]
"""

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from fairlead.core.allocation import AllocationError
from fairlead.core.model import MessageQueue
from strategies.dealing import Dealing, PerTopic, check
from strategies.options import bad_option, refuse_unknown

__all__ = ["CONSISTENT_HASH", "consistent_hash", "ring_hash"]

VIRTUAL_NODES = 10
VIRTUAL_NODES_MAX = 100_000
"""A larger number of nodes per client would be a mistake."""

NODES_MAX = 1_000_000
"""The most nodes of one ring; they take one or two seconds."""

RINGS_KEPT = 4
"""Only one ring is kept, since a big one takes megabytes and is needed for one allocation only."""


def consistent_hash(
    queues: Sequence[MessageQueue], client_ids: Sequence[str], options: Mapping[str, Any]
) -> Dealing:
    """Deal by the ring; both lists keep their given order."""
    nodes = _virtual_nodes(options)
    known = frozenset(client_ids)

    @cache
    def shares() -> Mapping[str, tuple[MessageQueue, ...]]:
        return _shares(queues, _ring(tuple(client_ids), nodes))

    def share(client_id: str) -> tuple[MessageQueue, ...]:
        if not check(client_id, queues, known):
            return ()
        return shares().get(client_id, ())

    return share


def ring_hash(text: str) -> int:
    """Return the place of a text on the ring, 0 to 2**32 - 1."""
    # Half of a surrogate pair cannot be encoded: like Java, hash a question mark in its place.
    digest = hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big")


@dataclass(frozen=True, slots=True)
class _Ring:
    """The nodes: their hashes, ascending, and their owners."""

    hashes: list[int]
    owners: Mapping[int, str]


@lru_cache(maxsize=RINGS_KEPT)
def _ring(client_ids: tuple[str, ...], nodes: int) -> _Ring:
    """Return the ring of these clients; most topics of a group have the same clients.

    Raises:
        AllocationError: ``bad_option``: a ring of so many nodes would take too long.
    """
    if nodes * len(client_ids) > NODES_MAX:
        most = NODES_MAX // len(client_ids)
        raise bad_option("virtual_nodes", f"at most {most} with {len(client_ids)} clients")
    ring: dict[int, str] = {}
    owned: Counter[str] = Counter()
    for client_id in client_ids:
        first = owned[client_id]
        for number in range(first, first + nodes):
            place = ring_hash(f"{client_id}-{number}")
            if place in ring:
                owned[ring[place]] -= 1
            ring[place] = client_id
            owned[client_id] += 1
    return _Ring(sorted(ring), ring)


def _shares(queues: Sequence[MessageQueue], ring: _Ring) -> Mapping[str, tuple[MessageQueue, ...]]:
    owned_by: dict[str, list[MessageQueue]] = {}
    hashes = ring.hashes
    for queue in queues if hashes else ():
        text = (
            f"MessageQueue [topic={queue.topic}, brokerName={queue.broker_name},"
            f" queueId={queue.queue_id}]"
        )
        place = bisect_left(hashes, ring_hash(text))
        owner = ring.owners[hashes[place] if place < len(hashes) else hashes[0]]
        owned_by.setdefault(owner, []).append(queue)
    return {client_id: tuple(owned) for client_id, owned in owned_by.items()}


def _virtual_nodes(options: Mapping[str, Any]) -> int:
    """Read the option; RocketMQ's constructor also refuses it before any allocation."""
    refuse_unknown(options, "virtual_nodes")
    nodes = options.get("virtual_nodes", VIRTUAL_NODES)
    if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes > VIRTUAL_NODES_MAX:
        raise bad_option("virtual_nodes", f"a number, 0 to {VIRTUAL_NODES_MAX}")
    if nodes < 0:
        raise AllocationError("virtual_nodes_invalid", "illegal virtualNodeCnt :" + str(nodes))
    return nodes


CONSISTENT_HASH = PerTopic("CONSISTENT_HASH", consistent_hash)
