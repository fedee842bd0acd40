"""CONSISTENT_HASH: a ring of virtual nodes; a queue belongs to the next node on the ring.

Source: AllocateMessageQueueConsistentHash#allocate, ConsistentHashRouter. Goals, in order:
RocketMQ's result to the letter; a leave moves only the queues of the one that left. There is no
bound: with many queues a client may have none. What has to be exact:

- The hash is the first four bytes of the MD5 of the UTF-8 text, the first one the highest.
- A client's nodes are ``<client id>-<k>``. k counts on from the nodes that this id has on the
  ring, so a duplicated id has twice as many.
- Nodes are put on the ring in the order of the clients; of two with one hash the later one stays.
- A queue is hashed as ``MessageQueue [topic=…, brokerName=…, queueId=…]`` and belongs to the first
  node whose hash is not less, or to the first of all.

Option ``virtual_nodes``: how many nodes each client has, 10 unless given; 0 gives nobody anything.

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
"""More would be a mistake: the ring has so many nodes for each client."""

NODES_MAX = 1_000_000
"""Of one ring; they take a second or two."""

RINGS_KEPT = 4
"""A big ring takes megabytes, and is needed for as long as one allocation is worked out."""


def consistent_hash(
    queues: Sequence[MessageQueue], client_ids: Sequence[str], options: Mapping[str, Any]
) -> Dealing:
    """Deal by the ring; both lists are taken in the order given."""
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
    # Half of a surrogate pair is no text: Java, too, hashes a question mark in its place.
    digest = hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big")


@dataclass(frozen=True, slots=True)
class _Ring:
    """The nodes: hashes, ascending, and whose each is."""

    hashes: list[int]
    owners: Mapping[int, str]


@lru_cache(maxsize=RINGS_KEPT)
def _ring(client_ids: tuple[str, ...], nodes: int) -> _Ring:
    """Return the ring of these clients; the topics of a group mostly have the same ones.

    Raises:
        AllocationError: ``bad_option``: it would have more nodes than a decision has time for.
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
    found: dict[str, list[MessageQueue]] = {}
    hashes = ring.hashes
    for queue in queues if hashes else ():
        text = (
            f"MessageQueue [topic={queue.topic}, brokerName={queue.broker_name},"
            f" queueId={queue.queue_id}]"
        )
        place = bisect_left(hashes, ring_hash(text))
        owner = ring.owners[hashes[place] if place < len(hashes) else hashes[0]]
        found.setdefault(owner, []).append(queue)
    return {client_id: tuple(owned) for client_id, owned in found.items()}


def _virtual_nodes(options: Mapping[str, Any]) -> int:
    """Read the option: the constructor of RocketMQ refuses before anything is allocated."""
    refuse_unknown(options, "virtual_nodes")
    nodes = options.get("virtual_nodes", VIRTUAL_NODES)
    if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes > VIRTUAL_NODES_MAX:
        raise bad_option("virtual_nodes", f"a number, 0 to {VIRTUAL_NODES_MAX}")
    if nodes < 0:
        raise AllocationError("virtual_nodes_invalid", "illegal virtualNodeCnt :" + str(nodes))
    return nodes


CONSISTENT_HASH = PerTopic("CONSISTENT_HASH", consistent_hash)
