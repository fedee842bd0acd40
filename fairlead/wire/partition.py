"""The partition of a record: Kafka's murmur2 of the group, or of group and client id.

The hash is Kafka's (org.apache.kafka.common.utils.Utils#murmur2). This copy saves every worker from
loading the whole package kafka-python; a test compares the two.
"""

from functools import lru_cache
from struct import unpack_from

__all__ = ["murmur2", "partition_of_client", "partition_of_group"]

_MASK = 0xFFFFFFFF
_FACTOR = 0x5BD1E995
_SEED = 0x9747B28C


def murmur2(data: bytes) -> int:
    """Return Kafka's murmur2 of the bytes as an unsigned 32-bit number."""
    whole = len(data) // 4
    state = (_SEED ^ len(data)) & _MASK
    for word in unpack_from(f"<{whole}I", data):
        mixed = (word * _FACTOR) & _MASK
        mixed ^= mixed >> 24
        state = ((state * _FACTOR) & _MASK) ^ ((mixed * _FACTOR) & _MASK)
    rest = data[4 * whole :]
    if rest:
        state = ((state ^ int.from_bytes(rest, "little")) * _FACTOR) & _MASK
    state = ((state ^ (state >> 13)) * _FACTOR) & _MASK
    return state ^ (state >> 15)


@lru_cache(maxsize=65_536)
def partition_of_group(group: str, partitions: int) -> int:
    """Return a group's partition of heartbeats, releases or control."""
    return (murmur2(group.encode()) & 0x7FFFFFFF) % partitions


@lru_cache(maxsize=65_536)
def partition_of_client(group: str, client_id: str, partitions: int) -> int:
    """Return a client's partition of assignments."""
    return (murmur2((group + client_id).encode()) & 0x7FFFFFFF) % partitions
