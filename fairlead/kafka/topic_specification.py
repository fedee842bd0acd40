"""The settings of Fairlead's topics; the table of docs/protocol.md §1 as Kafka settings.

Engine and clients depend on three facts: the number of partitions (a shard is a partition of
heartbeats), the broker's timestamps in the three topics from which the clock of the log is read,
and that compacted topics never delete. The rest is housekeeping.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fairlead.settings import TopicsSettings

_SECOND_MS: Final = 1_000
_HOUR_MS: Final = 3_600 * _SECOND_MS
_DAY_MS: Final = 24 * _HOUR_MS
_MIB: Final = 1024 * 1024

# Twice the largest record: a batch has a header and may hold several records.
MESSAGE_BYTES_MAX: Final = _MIB
# The cleaner never touches the newest segment, so it must be closed before old values can go.
_COMPACTED_SEGMENT_MS: Final = _HOUR_MS
_COMPACTED_SEGMENT_BYTES: Final = 16 * _MIB
_DELETED_SEGMENT_BYTES: Final = 256 * _MIB
# After a long downtime an engine must still see that a rule or a route was removed. (Ten years;
# Kafka's largest number would overflow when added to the time.)
_TOMBSTONES_KEPT_MS: Final = 3_650 * _DAY_MS

# Settings without which the engine or a client decides wrongly, and not only late or expensively.
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
        suffix: the name after the prefix.
        partitions: the number of partitions.
        config: every setting that may differ from a broker's default.
    """

    suffix: str
    partitions: int
    config: Mapping[str, str]


def topic_specs(topics: TopicsSettings) -> tuple[TopicSpec, ...]:
    """Return the eleven topics of docs/protocol.md."""
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
            # A client that reads late must still find the changes that led to the newest record.
            | {"min.compaction.lag.ms": str(topics.assignments_compaction_lag_ms)},
        ),
        TopicSpec("decisions", 1, _deleted(topics.decisions_retention_ms)),
        TopicSpec("requests", 1, _deleted(_DAY_MS)),
        TopicSpec("rejects", 1, _deleted(7 * _DAY_MS)),
    )


def _every() -> dict[str, str]:
    return {
        "max.message.bytes": str(MESSAGE_BYTES_MAX),
        # The broker decompresses records and checks their size afterwards: no reader meets an
        # unknown codec, or a small batch that becomes large.
        "compression.type": "uncompressed",
        # As a leader, a replica that is behind would lose records that readers have acted on.
        "unclean.leader.election.enable": "false",
    }


def _deleted(kept_ms: int) -> dict[str, str]:
    """Return the settings of a topic that deletes records after a time."""
    return _every() | {
        "cleanup.policy": "delete",
        "retention.ms": str(kept_ms),
        "retention.bytes": "-1",
        # Kafka deletes whole segments, so records stay at most a quarter longer.
        "segment.ms": str(max(kept_ms // 4, 60 * _SECOND_MS)),
        "segment.bytes": str(_DELETED_SEGMENT_BYTES),
    }


def _compacted(tombstones_kept_ms: int) -> dict[str, str]:
    """Return the settings of a topic that keeps the newest value of each key forever."""
    return _every() | {
        "cleanup.policy": "compact",
        "delete.retention.ms": str(tombstones_kept_ms),
        "min.compaction.lag.ms": "0",
        "min.cleanable.dirty.ratio": "0.2",
        "segment.ms": str(_COMPACTED_SEGMENT_MS),
        "segment.bytes": str(_COMPACTED_SEGMENT_BYTES),
    }


def _dated_by_broker() -> dict[str, str]:
    """Return the settings for append times, since the senders' clocks must not move the log's."""
    return {"message.timestamp.type": "LogAppendTime"}
