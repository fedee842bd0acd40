"""The grouping key of each shard, chosen so that Spark spreads the shards evenly over its tasks.

Spark sends a key to the task ``pmod(murmur3(key, 42), tasks)``. The keys 0, 1, 2, … would spread
unevenly (8 over 2 tasks: 5 and 3). So each shard gets the smallest number that is congruent to it
modulo the number of shards and that goes to task ``shard mod tasks``. The keys are in the
checkpoint: they never change.
"""

from collections.abc import Iterator
from itertools import count
from typing import Final

SPARK_SEED: Final = 42
_MASK: Final = 0xFFFFFFFF


def shard_keys(shards: int, tasks: int) -> tuple[int, ...]:
    """Return the key of each shard, in the order of the shards.

    Args:
        shards: the number of shards: the partitions of the heartbeats topic.
        tasks: Spark's shuffle partitions.
    """
    return tuple(
        next(key for key in _candidates(shard, shards) if task_of(key, tasks) == shard % tasks)
        for shard in range(shards)
    )


def task_of(key: int, tasks: int) -> int:
    """Return the shuffle partition to which Spark sends an integer key."""
    return spark_hash(key) % tasks


def spark_hash(number: int) -> int:
    """Return Spark's ``hash`` of a 32-bit integer: Murmur3 (x86, 32 bits), signed."""
    state = _rotated(number * 0xCC9E2D51, 15) * 0x1B873593 & _MASK
    state = (_rotated(SPARK_SEED ^ state, 13) * 5 + 0xE6546B64) & _MASK
    state ^= 4  # the length in bytes
    state = (state ^ state >> 16) * 0x85EBCA6B & _MASK
    state = (state ^ state >> 13) * 0xC2B2AE35 & _MASK
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


def _candidates(shard: int, shards: int) -> Iterator[int]:
    """Yield the numbers that are congruent to this shard modulo the number of shards."""
    return count(shard, shards)


def _rotated(word: int, bits: int) -> int:
    """Rotate a 32-bit word to the left."""
    word &= _MASK
    return (word << bits | word >> 32 - bits) & _MASK
