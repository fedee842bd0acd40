"""Where an engine without state begins to read, and its first ticks.

It reads routes, offsets and control from their first records. For heartbeats and releases a window
before the marker is enough: every client that may still work under the longest possible lease has a
heartbeat in it. The window never begins behind the topics' ends before the claim, so the engine
reads every acknowledgement of the new generation, whatever the brokers' clocks show.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from fairlead.core.records import Tick
from fairlead.kafka.partition_reading import first_since, read_bounds, read_to_end
from fairlead.settings import KafkaSettings
from fairlead.wire.member_records import LEASE_MS_MAX
from fairlead.wire.topics import TopicNames
from streaming.checkpoint import Offsets

Begin = Mapping[str, Mapping[int, int]]
"""topic -> partition -> the first offset to read, for topics not read from their start."""

WINDOWED: Final = ("heartbeats", "releases")
"""Suffixes of the topics that the engine reads a window of."""


def ends_before_claim(kafka: KafkaSettings, shards: int) -> Offsets:
    """Return where heartbeats and releases end now; call it before the claim.

    Raises:
        EnvironmentMissingError: the cluster does not answer.
    """
    bounds = read_bounds(kafka, _places(kafka, shards))
    return {place: end for place, (_, end) in bounds.items()}


def begin_without_state(
    kafka: KafkaSettings, ends: Offsets, marked_ms: Mapping[int, int], margin_ms: int
) -> Begin:
    """Return where an engine that lost its state begins to read heartbeats and releases.

    Args:
        kafka: the cluster.
        ends: where they ended before the claim.
        marked_ms: the append time of this driver's first tick, by partition.
        margin_ms: how much longer than a lease the engine waits.

    Raises:
        EnvironmentMissingError: the cluster does not answer.
    """
    since = {place: marked_ms[place[1]] - LEASE_MS_MAX - margin_ms for place in ends}
    begin: dict[str, dict[int, int]] = {}
    for (topic, partition), offset in sorted(first_since(kafka, since).items()):
        begin.setdefault(topic, {})[partition] = min(offset, ends[topic, partition])
    return begin


def control_ends(kafka: KafkaSettings, shards: int) -> dict[int, int]:
    """Return the offset behind the newest record of each partition of control.

    The partition's end is no substitute: the last offsets of a compacted topic may be empty.

    Raises:
        EnvironmentMissingError: the topic cannot be read.
    """
    ends = dict.fromkeys(range(shards), 0)
    topic = TopicNames(kafka.topic_prefix).name("control")
    for record in read_to_end(kafka, topic, range(shards)):
        ends[record.partition] = record.offset + 1
    return ends


def first_ticks(
    generation: int, control: Mapping[int, int], secrets: Sequence[str] = (), *, input_lost: bool
) -> dict[int, Tick]:
    """Return a driver's first tick in each partition: its marker there.

    ``secrets``: by partition, the secret that the tick reveals; the claim holds its hash.
    """
    return {
        partition: Tick(generation, end, input_lost, secrets[partition] if secrets else None)
        for partition, end in sorted(control.items())
    }


def _places(kafka: KafkaSettings, shards: int) -> list[tuple[str, int]]:
    names = TopicNames(kafka.topic_prefix)
    return [(names.name(suffix), shard) for suffix in WINDOWED for shard in range(shards)]
