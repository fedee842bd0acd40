"""Skips one input record that the query cannot read, on an operator's order.

A record that kills the JVM kills it again after each restart, because Spark runs the planned batch
again. So this module changes the plan: one batch reads up to the record, and after its commit the
checkpoint is moved behind the record. The engine reads all other records, in their order.

If the record's Kafka batch cannot be decoded at all, the whole batch is skipped: Kafka always sends
the whole batch, even when asked for a record in its middle.

ADR 0163 gives the reasons.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog
from fairlead_client.transport.topic_consumer import UnreadableBatch
from kafka import TopicPartition

from fairlead import __version__
from fairlead.errors import RefusedError, UsageError
from fairlead.kafka.input_topics import input_topics
from fairlead.kafka.partition_reading import read_bounds
from fairlead.kafka.reading_position import position_of
from fairlead.kafka.record_writer import write_records
from fairlead.kafka.topic_reader import consumer_of
from fairlead.settings import KafkaSettings
from fairlead.wire.encode_reject import encode_reject
from fairlead.wire.errors import WireError
from fairlead.wire.raw import RawRecord
from fairlead.wire.reasons import Reason
from fairlead.wire.topics import TopicNames
from streaming.checkpoint import Checkpoint

__all__ = ["Skip", "SkippedPlace", "check_skips", "log_suspects", "read_place", "skip_records"]

_POLL_MS: Final = 500
_POLLS_MAX: Final = 20

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, order=True)
class SkippedPlace:
    """The position of a record to skip: the topic's full name, partition and offset."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}@{self.offset}"


@dataclass(frozen=True, slots=True)
class Skip:
    """What the engine skips: from a place up to ``end``, exclusive."""

    place: SkippedPlace
    end: int
    why: str = field(default="", compare=False)


def read_place(text: str) -> SkippedPlace:
    """Return the place that a text such as ``fairlead.heartbeats/3@1207`` names.

    Raises:
        UsageError: the text names no place.
    """
    topic, slash, rest = text.rpartition("/")
    partition, at, offset = rest.partition("@")
    if not (topic and slash and at and partition.isascii() and partition.isdigit()):
        raise _unclear(text)
    if not (offset.isascii() and offset.isdigit()):
        raise _unclear(text)
    return SkippedPlace(topic, int(partition), int(offset))


def check_skips(
    kafka: KafkaSettings, checkpoint: Checkpoint, places: Sequence[SkippedPlace]
) -> list[Skip]:
    """Return what the engine will skip, in the order of the places.

    Raises:
        UsageError: a place names no record of an input topic.
        RefusedError: the checkpoint has no state, or the engine has already read that record.
        EnvironmentMissingError: the cluster does not answer.
    """
    if not places:
        return []
    inputs = input_topics(TopicNames(kafka.topic_prefix))
    for place in places:
        if place.topic not in inputs:
            raise UsageError(
                f"--skip {place}: the engine does not read the topic {place.topic}.",
                remedy=f"Name one of {', '.join(inputs)}.",
            )
    if not checkpoint.has_state():
        raise RefusedError(
            f"--skip {places[0]}: {checkpoint.folder} holds no state, so there is no plan to "
            "change.",
            remedy="Restore the checkpoint. Without one, an engine begins at the oldest record of "
            "control, routes and offsets, and shortly before the end of heartbeats and releases; "
            "kafka-delete-records.sh deletes records of the latter two up to an offset.",
        )
    wanted = checkpoint.next_offsets()
    for place in places:
        if (place.topic, place.partition) not in wanted:
            raise UsageError(
                f"--skip {place}: {place.topic} has no partition {place.partition}.",
                remedy="The log line that names the record has its partition and its offset.",
            )
    bounds = read_bounds(kafka, sorted({(place.topic, place.partition) for place in places}))
    skips = []
    for place in sorted({*places}):
        first, end = bounds[place.topic, place.partition]
        if not first <= place.offset < end:
            raise UsageError(
                f"--skip {place}: that partition holds the offsets {first} to {end - 1}."
                if first < end
                else f"--skip {place}: that partition holds no record.",
                remedy="The log line that names the record has its partition and its offset.",
            )
        read_on = wanted[place.topic, place.partition]
        if place.offset < read_on:
            raise RefusedError(
                f"--skip {place}: the engine has already read that partition up to offset "
                f"{read_on - 1}; a skip works once.",
                remedy="Start without --skip.",
            )
        skips.append(_skip(kafka, place))
    return skips


def log_suspects(kafka: KafkaSettings, checkpoint: Checkpoint) -> None:
    """Log the records of a planned, uncommitted batch that Java may be unable to read.

    Raises:
        EnvironmentMissingError: the log cannot be read.
    """
    begins, ends = checkpoint.next_offsets(), checkpoint.planned_offsets()
    suspects: list[UnreadableBatch] = []
    options = {"auto_offset_reset": "earliest"}
    with consumer_of(kafka, "suspects", on_unreadable=suspects.append, **options) as consumer:
        places = {TopicPartition(*each): end for each, end in ends.items() if begins[each] < end}
        consumer.assign([*places])
        for place in places:
            consumer.seek(place, begins[place])
        for _ in range(_POLLS_MAX):
            if all(position_of(consumer, place) >= end for place, end in places.items()):
                break
            consumer.poll(timeout_ms=_POLL_MS)
    for batch in suspects:
        place = SkippedPlace(batch.topic, batch.partition, batch.offset)
        if batch.offset < ends[batch.topic, batch.partition]:
            log.warning("this record may kill the engine", place=str(place), reason=batch.reason)


def skip_records(
    kafka: KafkaSettings,
    checkpoint: Checkpoint,
    skips: Sequence[Skip],
    run_planned_batch: Callable[[], None],
) -> None:
    """Change the checkpoint so that the next query skips these records.

    Args:
        kafka: the cluster, for the audit records.
        checkpoint: a checkpoint with state that no query uses.
        skips: the result of `check_skips`.
        run_planned_batch: runs and commits the planned batch, and no other.
    """
    for skip in skips:
        place = skip.place
        read_on = checkpoint.next_offsets()[place.topic, place.partition]
        if read_on >= skip.end:
            # An earlier one of these skips has skipped its whole batch.
            continue
        if read_on < place.offset:
            checkpoint.plan_up_to(place.topic, place.partition, place.offset)
            run_planned_batch()
        checkpoint.read_on_from(place.topic, place.partition, skip.end)
        log.warning("skipped a record", place=str(place), end=skip.end, reason=skip.why)
        _audit(kafka, skip)


def _skip(kafka: KafkaSettings, place: SkippedPlace) -> Skip:
    """Inspect the record; skip its whole batch if that cannot be decoded."""
    unreadable: list[UnreadableBatch] = []
    here = TopicPartition(place.topic, place.partition)
    with consumer_of(kafka, "skip", on_unreadable=unreadable.append) as consumer:
        consumer.assign([here])
        consumer.seek(here, place.offset)
        for _ in range(_POLLS_MAX):
            if consumer.poll(timeout_ms=_POLL_MS, max_records=1) or unreadable:
                break
    if unreadable and unreadable[0].offset <= place.offset:
        batch = unreadable[0]
        return Skip(place, max(batch.end, place.offset + 1), batch.reason)
    return Skip(place, place.offset + 1, "it can be read")


def _audit(kafka: KafkaSettings, skip: Skip) -> None:
    """Append a dead letter for each skipped offset, so that the skip is on record."""
    place, names = skip.place, TopicNames(kafka.topic_prefix)
    error = WireError(
        Reason.SKIPPED,
        None,
        f"an operator started the engine with --skip {place}; {skip.why}",
        "send it again in a form that the topic allows",
    )
    raw = RawRecord(
        place.topic,
        place.partition,
        place.offset,
        append_ms=0,
        append_time_is_log=True,
        key=None,
        value=None,
    )
    write_records(
        kafka,
        [
            encode_reject(error, raw._replace(offset=offset), names, __version__)
            for offset in range(place.offset, skip.end)
        ],
    )


def _unclear(text: str) -> UsageError:
    return UsageError(
        f"--skip {text}: it names no record.",
        remedy="Write TOPIC/PARTITION@OFFSET, with the topic's full name: "
        "--skip fairlead.heartbeats/3@1207",
    )
