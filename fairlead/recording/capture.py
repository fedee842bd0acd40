"""Records the topics of a live cluster, as they are now, without writing to the cluster.

It asks for the ends of the topics in an order: decisions first, then the engine's other outputs,
then its inputs, with releases and their copies after heartbeats. So the recording holds everything
that a recorded decision rests on and led to, and the release behind every report of work.
"""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord
from kafka.errors import KafkaError

from fairlead import __version__
from fairlead.core.allocation import Strategy
from fairlead.core.records import DriverSettings
from fairlead.core.rules.group_rules import CHAIN_CAP
from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.partition_reading import partitions_of, read_bounds
from fairlead.kafka.reading_position import position_of
from fairlead.kafka.topic_reader import consumer_of, unreadable
from fairlead.recording.folder import RecordingFolder, open_recording
from fairlead.recording.manifest import Manifest
from fairlead.recording.writer import PartitionWriter, RecordingWriter
from fairlead.settings import KafkaSettings, Settings
from fairlead.wire.raw import raw_record
from fairlead.wire.topics import CLIENT_TOPICS, TopicNames

__all__ = ["Capture", "Said", "capture", "driver_settings"]

_ORDER: Final = (
    "decisions", "assignments", "requests", "rejects",
    "control", "routes", "offsets", "heartbeats", "releases", "generations",
)  # fmt: skip
_POLL_MS: Final = 200
_IDLE_POLLS_MAX: Final = 150
_TICKS_FRESH: Final = 5
"""An engine whose newest tick is older than this many periods does not run."""

Said = Callable[[str], None]
Bounds = Mapping[tuple[str, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Capture:
    """What to record.

    Attributes:
        kafka: the cluster and the prefix of the topics.
        folder: the target, new or empty.
        settings: a driver's settings by this conf/, for claims without settings.
        sources: topics of the data plane whose message offsets to record.
    """

    kafka: KafkaSettings
    folder: Path
    settings: DriverSettings
    sources: Sequence[str] = ()


def driver_settings(settings: Settings, strategies: Mapping[str, Strategy]) -> DriverSettings:
    """Return a driver's settings by these settings."""
    return DriverSettings(
        tick_ms=settings.engine.tick_ms,
        auto_create=settings.groups.auto_create,
        evict_after_ms=settings.groups.evict_after_ms,
        chain_cap=CHAIN_CAP,
        strategies=tuple(sorted(strategies)),
        switch_ms=settings.groups.switch_ms,
        groups_max=settings.groups.max_groups,
        new_groups_per_second=settings.groups.new_groups_per_second,
        heartbeat_bytes_per_second=settings.groups.heartbeat_bytes_per_second,
        state_bytes=settings.groups.state_bytes,
    )


def capture(plan: Capture, say: Said = lambda _: None) -> RecordingFolder:
    """Record the topics, and return the recording.

    Raises:
        EnvironmentMissingError: the cluster does not answer, or a topic does not exist.
        UsageError: the folder is not empty.
    """
    names = TopicNames(plan.kafka.topic_prefix)
    numbers = {topic: range(partitions_of(plan.kafka, topic)) for topic in map(names.name, _ORDER)}
    numbers |= {topic: _source_partitions(plan.kafka, topic) for topic in plan.sources}
    order = list(_ORDER)
    for suffix in CLIENT_TOPICS:
        topic = names.name(suffix)
        try:
            numbers[topic] = range(partitions_of(plan.kafka, topic))
        except EnvironmentMissingError:
            # Clients and engine run without it, so a recording must be possible then.
            say(f"{topic}: it does not exist, so the recording lacks it")
        else:
            order.append(suffix)
    writer = RecordingWriter(plan.folder)
    bounds = {
        place: first_and_end
        for topic, partitions in numbers.items()
        for place, first_and_end in read_bounds(
            plan.kafka, [(topic, number) for number in partitions]
        ).items()
    }
    newest_tick_ms = 0
    for suffix in order:
        topic = names.name(suffix)
        say(f"{topic}: {sum(bounds[topic, each][1] for each in numbers[topic]):,} offsets")
        newest_ms = _record_topic(plan.kafka, topic, suffix, bounds, writer)
        if suffix == "heartbeats":
            newest_tick_ms = newest_ms
    now_ms = time.time_ns() // 1_000_000
    sources = {topic: _runs(plan.kafka, topic, bounds) for topic in plan.sources}
    fresh_ms = _TICKS_FRESH * plan.settings.tick_ms
    writer.finish(
        Manifest(
            prefix=names.prefix,
            recorded_at_ms=now_ms,
            version=__version__,
            running=now_ms - newest_tick_ms < fresh_ms,
            settings=plan.settings,
            topics=writer.topics(),
            sources=sources,
        )
    )
    return open_recording(plan.folder)


def _source_partitions(kafka: KafkaSettings, topic: str) -> range:
    """Return the partitions of a topic with messages.

    Raises:
        EnvironmentMissingError: it does not exist.
    """
    try:
        return range(partitions_of(kafka, topic))
    except EnvironmentMissingError as error:
        raise EnvironmentMissingError(
            f"--source: {error.message}",
            remedy="Name an existing topic with messages, to which the group's clients subscribe.",
        ) from error


def _record_topic(
    kafka: KafkaSettings, topic: str, suffix: str, bounds: Bounds, writer: RecordingWriter
) -> int:
    """Write a topic's partitions; return the newest append time."""
    newest_ms = 0
    with contextlib.ExitStack() as stack:
        files: dict[int, PartitionWriter] = {
            number: stack.enter_context(writer.partition(suffix, number, first, end))
            for (name, number), (first, end) in sorted(bounds.items())
            if name == topic
        }

        def write(record: ConsumerRecord) -> None:
            nonlocal newest_ms
            newest_ms = max(newest_ms, record.timestamp)
            files[record.partition].add(raw_record(record), record.headers or ())

        _read(kafka, topic, bounds, write)
    return newest_ms


def _runs(
    kafka: KafkaSettings, topic: str, bounds: Bounds
) -> dict[int, tuple[tuple[int, int], ...]]:
    """Return the offsets with a message, as runs."""
    runs: dict[int, list[tuple[int, int]]] = {
        number: [] for name, number in sorted(bounds) if name == topic
    }

    def extend(record: ConsumerRecord) -> None:
        own = runs[record.partition]
        if own and own[-1][1] == record.offset - 1:
            own[-1] = (own[-1][0], record.offset)
        else:
            own.append((record.offset, record.offset))

    _read(kafka, topic, bounds, extend)
    return {number: tuple(own) for number, own in runs.items()}


def _read(
    kafka: KafkaSettings, topic: str, bounds: Bounds, on_record: Callable[[ConsumerRecord], None]
) -> None:
    """Read a topic from its first record to these ends."""
    ends = {
        TopicPartition(*place): end
        for place, (first, end) in bounds.items()
        if place[0] == topic and first < end
    }
    if not ends:
        return
    try:
        with contextlib.closing(consumer_of(kafka, "record")) as consumer:
            consumer.assign(list(ends))
            consumer.seek_to_beginning()
            _poll(kafka, consumer, ends, on_record)
    except KafkaError as error:
        raise unreadable(kafka, topic, error) from error


def _poll(
    kafka: KafkaSettings,
    consumer: KafkaConsumer,
    ends: Mapping[TopicPartition, int],
    on_record: Callable[[ConsumerRecord], None],
) -> None:
    idle = 0
    # Compare positions: the last offsets of a compacted topic may have no record.
    while any(position_of(consumer, partition) < end for partition, end in ends.items()):
        batches = consumer.poll(timeout_ms=_POLL_MS, max_records=5_000)
        idle = 0 if batches else idle + 1
        if idle > _IDLE_POLLS_MAX:
            raise unreadable(kafka, next(iter(ends)).topic, "it stopped answering")
        for partition, records in batches.items():
            for record in records:
                if record.offset < ends[partition]:
                    on_record(record)
