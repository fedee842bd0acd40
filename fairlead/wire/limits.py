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
"""The most causes in an assignment; its decision has all of them."""
DECISION_ENTRIES_PER_PART = 80
"""This many causes, members, moves and failures with the longest names fit into a record."""
INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)
DEPTH_MAX = 16
HEARTBEATS_BYTES_MAX = 64 * 1024
RECORD_BYTES_MAX = 512 * 1024
KEY_BYTES_MAX = 2048
QUEUE_ID_MAX = 2**31 - 1
REQUEST_QUEUES_MAX = 1_024
"""An engine asks about at most 126 queues per record; null asks about all queues of a topic."""
ROUTE_QUEUES_MAX = 100_000
PARTS_MAX = 1024
TIME_MS_MIN = 10**12
"""The year 2001. Smaller numbers are seconds, or nonsense."""
TIME_MS_MAX = 10**13 - 1
"""The year 2286. Larger numbers are microseconds, or nonsense."""


@dataclass(frozen=True, slots=True)
class WireLimits:
    """The number of shards and the sizes in bytes that decoding needs."""

    shards: int
    heartbeats_bytes_max: int = HEARTBEATS_BYTES_MAX
    record_bytes_max: int = RECORD_BYTES_MAX

    def bytes_max(self, topic_kind: str) -> int:
        """Return the most bytes that a value of this topic may have."""
        return self.heartbeats_bytes_max if topic_kind == "heartbeats" else self.record_bytes_max
