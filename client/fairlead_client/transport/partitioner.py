"""The partition of a record; writers set it, because the libraries' defaults differ."""

from functools import lru_cache

from kafka.partitioner.default import murmur2


@lru_cache(maxsize=1_024)
def partition_of(text: str, partitions: int) -> int:
    """Return the partition of a text, as Kafka's Java producer chooses it (protocol §2).

    >>> partition_of("orders10.0.0.7@4121#1", 64)
    43
    """
    return int((murmur2(text.encode()) & 0x7FFFFFFF) % partitions)
