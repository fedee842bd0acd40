"""Where an engine without state begins to read, and what its first ticks say.

Routes, offsets and control are read from their first records. Of heartbeats and releases a window
before the marker is enough: whoever may still be working under the longest lease there is has a
heartbeat in it. It never begins behind what stood there before the claim, so that every
acknowledgement of the new generation is read, whatever the brokers' clocks say.
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
"""topic -> partition -> the first offset to read, of the topics that are not read from the start"""

WINDOWED: Final = ("heartbeats", "releases")
"""Suffixes of the topics of which a window is read."""


def ends_before_claim(kafka: KafkaSettings, shards: int) -> Offsets:
    """Return where heartbeats and releases end now: ask before the generation is claimed.

    Raises:
        EnvironmentMissingError: the log cannot be asked.
    """
    bounds = read_bounds(kafka, _places(kafka, shards))
    return {place: end for place, (_, end) in bounds.items()}


def begin_without_state(
    kafka: KafkaSettings, ends: Offsets, marked_ms: Mapping[int, int], margin_ms: int
) -> Begin:
    """Return from where heartbeats and releases are read by an engine that lost its state.

    Args:
        kafka: the cluster.
        ends: where they ended before the claim.
        marked_ms: the append time of this driver's first tick, by partition.
        margin_ms: by how much the engine waits longer than a lease.

    Raises:
        EnvironmentMissingError: the log cannot be asked.
    """
    since = {place: marked_ms[place[1]] - LEASE_MS_MAX - margin_ms for place in ends}
    begin: dict[str, dict[int, int]] = {}
    for (topic, partition), offset in sorted(first_since(kafka, since).items()):
        begin.setdefault(topic, {})[partition] = min(offset, ends[topic, partition])
    return begin


def control_ends(kafka: KafkaSettings, shards: int) -> dict[int, int]:
    """Return the offset behind the newest record of each partition of control.

    By record and not by the partition's end: the last offsets of a compacted topic may be empty.

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
    """Return the first tick of a driver in each partition: its marker there.

    ``secrets``: what each of them shows, by partition, of what the driver's claim has sealed.
    """
    return {
        partition: Tick(generation, end, input_lost, secrets[partition] if secrets else None)
        for partition, end in sorted(control.items())
    }


def _places(kafka: KafkaSettings, shards: int) -> list[tuple[str, int]]:
    names = TopicNames(kafka.topic_prefix)
    return [(names.name(suffix), shard) for suffix in WINDOWED for shard in range(shards)]
