"""Collects the history of a run from its journals and topics."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import orjson

from fairlead.core.model import Epoch, MessageQueue
from fairlead.kafka.topic_content import TopicContent
from fairlead.recording import RecordingFolder
from fairlead.verify.conservation import RowPlace
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
    refused: Collection[RowPlace],
) -> History:
    """Return the history of one group's run.

    Args:
        recording: of the topics.
        group: its name.
        journals: of its consumers.
        steps: the fault log: what was done to them, and when.
        source: what the source topics hold: per queue, offset → number.
        refused: places of rows that have a dead letter.

    Raises:
        RecordingError: the recording is damaged.
    """
    issued = tuple(_understood(recording.all_rows("assignments"), group))
    decisions = tuple(_decisions(recording.all_rows("decisions"), group))
    # Compaction leaves only the newest assignment of a member; the decisions name the other grants.
    decided = {
        (move.queue, move.client_id, move.epoch)
        for decision in decisions
        for move in decision.moves
        if move.stage in ("gated", "granted")
    }
    granted = frozenset({(each.queue, each.client_id, each.epoch) for each in issued} | decided)
    progress = tuple(progress_reports(_accepted(recording, refused), group))
    # The same holds for the topic's identity: the client that has the grant reports it too.
    identities = {
        (each.queue, each.epoch): each.identity
        for each in progress
        if each.identity is not None and (each.queue, each.client_id, each.epoch) in granted
    }
    identities |= {
        (each.queue, each.epoch): each.identity for each in issued if each.identity is not None
    }
    return History(
        journals=journals,
        steps=tuple(steps),
        source=source,
        decisions=decisions,
        grants=granted,
        identities=identities,
        starts={(each.queue, each.epoch): each.start for each in issued},
        progress=progress,
    )


def _accepted(recording: RecordingFolder, refused: Collection[RowPlace]) -> Iterator[RawRecord]:
    """Yield the progress records that the engine accepted; S11 judges those that it refused."""
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
    """Yield the adds of the readable assignments; S3 reports the unreadable ones."""
    for record in records:
        try:
            yield from tuple(grants((record,), group))
        except ValueError:
            continue


def source_content(content: TopicContent, broker_name: str) -> dict[MessageQueue, dict[int, int]]:
    """Return, per queue and offset, the number that the producer wrote; a queue may hold none.

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
                    identity=entry.get("identity"),
                )
        except (KeyError, TypeError) as error:
            raise ValueError(f"progress record: {error!r} in {record.value[:200]!r}") from error


class Grant(NamedTuple):
    """A grant as the assignment record gives it to its client.

    Attributes:
        identity: of its topic; None if the record names none.
        start: the operator's reset that it follows (0: none), and the first offset.
    """

    queue: MessageQueue
    client_id: str
    epoch: Epoch
    identity: str | None
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
                identity = entry.get("identity")
                yield Grant(queue, fields["client_id"], epoch, identity, (reset, offset))
        except (KeyError, TypeError) as error:
            raise ValueError(f"assignment record: {error!r} in {record.value[:200]!r}") from error


def _decisions(records: Rows, group: str) -> Iterator[DecisionRecord]:
    """Yield the readable decisions; S3 reports the unreadable ones."""
    reader = DecisionReader(group)
    for record in records:
        try:
            decision = None if record.value is None else reader.read(record)
        except ValueError:
            continue
        if decision is not None:
            yield decision
