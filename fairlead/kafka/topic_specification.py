"""How each of Fairlead's topics must be set; the table of docs/protocol.md §1 in Kafka's words.

Three facts carry the engine and its clients, the rest is housekeeping: how many partitions there
are (a shard is a partition of heartbeats), that the broker dates the records of the three topics
from which the clock of the log is read, and that what is compacted is never deleted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fairlead.settings import TopicsSettings

_SECOND_MS: Final = 1_000
_HOUR_MS: Final = 3_600 * _SECOND_MS
_DAY_MS: Final = 24 * _HOUR_MS
_MIB: Final = 1024 * 1024

# Twice the largest record: a batch has a header, and a producer may put several records in one.
MESSAGE_BYTES_MAX: Final = _MIB
# The cleaner never touches the newest segment: it must be closed before old values can go.
_COMPACTED_SEGMENT_MS: Final = _HOUR_MS
_COMPACTED_SEGMENT_BYTES: Final = 16 * _MIB
_DELETED_SEGMENT_BYTES: Final = 256 * _MIB
# An engine that was down for long must still see that a rule or a route was removed. (Ten years;
# the largest number of Kafka's own would overflow when it is added to the time.)
_TOMBSTONES_KEPT_MS: Final = 3_650 * _DAY_MS

# Settings without which the engine or a client decides wrongly, not only later or at more cost.
ESSENTIAL_SETTINGS: Final = frozenset(
    {
        "partitions",
        "cleanup.policy",
        "message.timestamp.type",
        "min.compaction.lag.ms",
        "max.message.bytes",
        "compression.type",
        "unclean.leader.election.enable",
    }
)


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """One topic.

    Attributes:
        suffix: what follows the prefix in its name.
        partitions: how many.
        config: every setting that differs from what a broker might have as its default.
    """

    suffix: str
    partitions: int
    config: Mapping[str, str]


def topic_specs(topics: TopicsSettings) -> tuple[TopicSpec, ...]:
    """Return the eleven topics, as docs/protocol.md lists them."""
    shards = topics.heartbeats_partitions
    kept_ms = topics.heartbeats_retention_ms
    return (
        TopicSpec("heartbeats", shards, _deleted(kept_ms) | _dated_by_broker()),
        TopicSpec("releases", shards, _deleted(kept_ms) | _dated_by_broker()),
        TopicSpec(
            "handovers", topics.assignments_partitions, _deleted(_HOUR_MS) | _dated_by_broker()
        ),
        TopicSpec("control", shards, _compacted(_TOMBSTONES_KEPT_MS) | _dated_by_broker()),
        TopicSpec("generations", 1, _compacted(_TOMBSTONES_KEPT_MS)),
        TopicSpec("routes", 1, _compacted(_TOMBSTONES_KEPT_MS)),
        TopicSpec("offsets", 1, _compacted(_DAY_MS)),
        TopicSpec(
            "assignments",
            topics.assignments_partitions,
            _compacted(_DAY_MS)
            # A client that reads late must still find the diff behind the newest record.
            | {"min.compaction.lag.ms": str(topics.assignments_compaction_lag_ms)},
        ),
        TopicSpec("decisions", 1, _deleted(topics.decisions_retention_ms)),
        TopicSpec("requests", 1, _deleted(_DAY_MS)),
        TopicSpec("rejects", 1, _deleted(7 * _DAY_MS)),
    )


def _every() -> dict[str, str]:
    return {
        "max.message.bytes": str(MESSAGE_BYTES_MAX),
        # The broker decompresses what a producer compressed, and compares its size afterwards: no
        # reader meets a codec it does not have, or a small batch that becomes a large one.
        "compression.type": "uncompressed",
        # A replica that had not caught up would take back what readers have acted on.
        "unclean.leader.election.enable": "false",
    }


def _deleted(kept_ms: int) -> dict[str, str]:
    """Settings of a topic whose records go after a time."""
    return _every() | {
        "cleanup.policy": "delete",
        "retention.ms": str(kept_ms),
        "retention.bytes": "-1",
        # Records go by whole segments: at most a quarter longer than they must be kept.
        "segment.ms": str(max(kept_ms // 4, 60 * _SECOND_MS)),
        "segment.bytes": str(_DELETED_SEGMENT_BYTES),
    }


def _compacted(tombstones_kept_ms: int) -> dict[str, str]:
    """Settings of a topic that keeps the newest value of each key for ever."""
    return _every() | {
        "cleanup.policy": "compact",
        "delete.retention.ms": str(tombstones_kept_ms),
        "min.compaction.lag.ms": "0",
        "min.cleanable.dirty.ratio": "0.2",
        "segment.ms": str(_COMPACTED_SEGMENT_MS),
        "segment.bytes": str(_COMPACTED_SEGMENT_BYTES),
    }


def _dated_by_broker() -> dict[str, str]:
    """The append time is the clock of the log: a sender's own clock must not reach it."""
    return {"message.timestamp.type": "LogAppendTime"}
