"""The sizes and ranges of the protocol."""

from dataclasses import dataclass

__all__ = [
    "CAUSES_MAX",
    "DECISION_ENTRIES_PER_PART",
    "DEPTH_MAX",
    "HEARTBEATS_BYTES_MAX",
    "INT64_MAX",
    "INT64_MIN",
    "KEY_BYTES_MAX",
    "PARTS_MAX",
    "QUEUE_ID_MAX",
    "RECORD_BYTES_MAX",
    "REQUEST_QUEUES_MAX",
    "ROUTE_QUEUES_MAX",
    "TIME_MS_MAX",
    "TIME_MS_MIN",
    "WireLimits",
]

CAUSES_MAX = 32
"""So many causes stand in an assignment; its decision names them all."""
DECISION_ENTRIES_PER_PART = 80
"""So many causes, members, moves and failures of the longest names stay below the record limit."""
INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)
DEPTH_MAX = 16
HEARTBEATS_BYTES_MAX = 64 * 1024
RECORD_BYTES_MAX = 512 * 1024
KEY_BYTES_MAX = 2048
QUEUE_ID_MAX = 2**31 - 1
REQUEST_QUEUES_MAX = 1_024
"""An engine asks about 126 queues in a record at most; null asks about all of a topic."""
ROUTE_QUEUES_MAX = 100_000
PARTS_MAX = 1024
TIME_MS_MIN = 10**12
"""The year 2001. What is below is seconds, or nonsense."""
TIME_MS_MAX = 10**13 - 1
"""The year 2286. What is above is microseconds, or nonsense."""


@dataclass(frozen=True, slots=True)
class WireLimits:
    """What decoding needs to know beside the record: the number of shards, sizes in bytes."""

    shards: int
    heartbeats_bytes_max: int = HEARTBEATS_BYTES_MAX
    record_bytes_max: int = RECORD_BYTES_MAX

    def bytes_max(self, topic_kind: str) -> int:
        """Return how many bytes a value of this topic may have."""
        return self.heartbeats_bytes_max if topic_kind == "heartbeats" else self.record_bytes_max
