"""Collects the history of a run from where it was written: journals and topics, nobody's memory."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import orjson

from fairlead.core.model import Epoch, MessageQueue
from fairlead.kafka.topic_content import TopicContent
from fairlead.recording import RecordingFolder
from fairlead.verify.conservation import Place
from fairlead.verify.history import History, Journal, ProgressReport, StepRecord
from fairlead.wire.decision_records import DecisionReader, DecisionRecord
from fairlead.wire.decode import decode
from fairlead.wire.engine_shapes import check_assignment
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import RawRecord

Rows = Iterable[RawRecord]


def history_of(
    recording: RecordingFolder,
    group: str,
    journals: Sequence[Journal],
    steps: Sequence[StepRecord],
    source: Mapping[MessageQueue, Mapping[int, int | None]],
    *,
    refused: Collection[Place],
) -> History:
    """Return the history of one group's run.

    Args:
        recording: of the topics.
        group: its name.
        journals: of its consumers.
        steps: what was done to them, and when.
        source: what the source topics hold: per queue, offset → number.
        refused: places of rows that have a dead letter.

    Raises:
        RecordingError: the recording is damaged.
    """
    told = tuple(_understood(recording.all_rows("assignments"), group))
    decisions = tuple(_decisions(recording.all_rows("decisions"), group))
    # Of the assignments compaction leaves the newest alone; the decisions tell of the others.
    decided = {
        (move.queue, move.client_id, move.epoch)
        for decision in decisions
        for move in decision.moves
        if move.stage in ("gated", "granted")
    }
    granted = frozenset({(each.queue, each.client_id, each.epoch) for each in told} | decided)
    progress = tuple(progress_reports(_accepted(recording, refused), group))
    # So is it with the life of its topic: whoever was granted it says the same.
    lives = {
        (each.queue, each.epoch): each.life
        for each in progress
        if each.life is not None and (each.queue, each.client_id, each.epoch) in granted
    }
    lives |= {(each.queue, each.epoch): each.life for each in told if each.life is not None}
    return History(
        journals=journals,
        steps=tuple(steps),
        source=source,
        decisions=decisions,
        grants=granted,
        lives=lives,
        starts={(each.queue, each.epoch): each.start for each in told},
        progress=progress,
    )


def _accepted(recording: RecordingFolder, refused: Collection[Place]) -> Iterator[RawRecord]:
    """Yield the progress records that the engine took; of others S11 says that it refused them."""
    limits = WireLimits(recording.manifest.partitions.shards)
    for row in recording.all_rows("heartbeats"):
        place = (row.topic, row.partition, row.offset)
        if row.value is None or b'"progress"' not in row.value or place in refused:
            continue
        try:
            decode("heartbeats", row, limits)
        except WireError:
            continue
        yield row


def _understood(records: Rows, group: str) -> Iterator["Grant"]:
    """Yield the adds of the assignments that can be read; of others S3 says that they cannot."""
    for record in records:
        try:
            yield from tuple(grants((record,), group))
        except ValueError:
            continue


def source_content(content: TopicContent, broker_name: str) -> dict[MessageQueue, dict[int, int]]:
    """Per queue and offset, the number that the producer wrote; a queue may hold none.

    Raises:
        ValueError: a message is no number.
    """
    numbers: dict[MessageQueue, dict[int, int]] = {
        MessageQueue(content.topic, broker_name, partition): {} for partition in content.partitions
    }
    for record in content.records:
        queue = MessageQueue(content.topic, broker_name, record.partition)
        numbers[queue][record.offset] = int(record.value or b"")
    return numbers


def progress_reports(records: Rows, group: str) -> Iterator[ProgressReport]:
    """Yield every entry of every progress record of the group.

    Raises:
        ValueError: a progress record cannot be understood.
    """
    for record in records:
        if record.value is None or b'"progress"' not in record.value:
            continue
        try:
            fields = orjson.loads(record.value)
            if fields["kind"] != "progress" or fields["group"] != group:
                continue
            for entry in fields["queues"]:
                yield ProgressReport(
                    source=(record.topic, record.partition),
                    source_offset=record.offset,
                    client_id=fields["client_id"],
                    queue=MessageQueue(*entry["queue"]),
                    epoch=Epoch(*entry["epoch"]),
                    offset=entry["position"][1],
                    life=entry.get("identity"),
                )
        except (KeyError, TypeError) as error:
            raise ValueError(f"progress record: {error!r} in {record.value[:200]!r}") from error


class Grant(NamedTuple):
    """A grant as its client was told it.

    Attributes:
        life: the identity of its topic; None if not told.
        start: the operator's reset that it follows (0: none), and where it begins.
    """

    queue: MessageQueue
    client_id: str
    epoch: Epoch
    life: str | None
    start: tuple[int, int]


def grants(records: Rows, group: str) -> Iterator[Grant]:
    """Yield every add of every assignment record of the group.

    Raises:
        ValueError: an assignment record cannot be understood.
    """
    for record in records:
        if record.value is None:
            continue
        try:
            fields = orjson.loads(record.value)
            if fields["kind"] != "assignment" or fields["group"] != group:
                continue
            check_assignment(fields)
            for entry in fields["add"]:
                queue, epoch = MessageQueue(*entry["queue"]), Epoch(*entry["epoch"])
                reset, offset = entry["position"]
                life = entry.get("identity")
                yield Grant(queue, fields["client_id"], epoch, life, (reset, offset))
        except (KeyError, TypeError) as error:
            raise ValueError(f"assignment record: {error!r} in {record.value[:200]!r}") from error


def _decisions(records: Rows, group: str) -> Iterator[DecisionRecord]:
    """Yield the decisions that can be read; of others S3 says that they cannot."""
    reader = DecisionReader(group)
    for record in records:
        try:
            decision = None if record.value is None else reader.read(record)
        except ValueError:
            continue
        if decision is not None:
            yield decision
