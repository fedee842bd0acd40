"""Collects the history of a run from where it was written: journals and topics, nobody's memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import orjson

from fairlead.local.decisions import Decision, DecisionReader
from fairlead.local.topic_content import StoredRecord, TopicContent
from fairlead.recording import RecordingFolder
from fairlead.verify.history import (
    Epoch,
    History,
    Journal,
    ProgressReport,
    Queue,
    StepRecord,
)
from fairlead.wire.raw import RawRecord

Rows = Iterable[StoredRecord | RawRecord]


def history_of(
    recording: RecordingFolder,
    group: str,
    journals: Sequence[Journal],
    steps: Sequence[StepRecord],
    source: Mapping[Queue, Mapping[int, int | None]],
) -> History:
    """Return the history of one group's run.

    Args:
        recording: of the topics.
        group: its name.
        journals: of its consumers.
        steps: what was done to them, and when.
        source: what the source topics hold: per queue, offset → number.

    Raises:
        RecordingError: the recording is damaged.
        ValueError: a record of Fairlead's own topics cannot be understood.
    """
    granted = tuple(grants(recording.all_rows("assignments"), group))
    return History(
        journals=journals,
        steps=tuple(steps),
        source=source,
        decisions=tuple(_decisions(recording.all_rows("decisions"), group)),
        grants=frozenset((each.queue, each.client_id, each.epoch) for each in granted),
        lives={(each.queue, each.epoch): each.life for each in granted if each.life is not None},
        progress=tuple(progress_reports(recording.all_rows("heartbeats"), group)),
    )


def source_content(content: TopicContent, broker_name: str) -> dict[Queue, dict[int, int]]:
    """Per queue and offset, the number that the producer wrote; a queue may hold none.

    Raises:
        ValueError: a message is no number.
    """
    numbers: dict[Queue, dict[int, int]] = {
        Queue(content.topic, broker_name, partition): {} for partition in content.partitions
    }
    for record in content.records:
        queue = Queue(content.topic, broker_name, record.partition)
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
                    queue=Queue(*entry["queue"]),
                    epoch=Epoch(*entry["epoch"]),
                    offset=entry["position"][1],
                )
        except (KeyError, TypeError) as error:
            raise ValueError(f"progress record: {error!r} in {record.value[:200]!r}") from error


class Grant(NamedTuple):
    """A grant as its client was told it; ``life``: the identity of its topic, None if not told."""

    queue: Queue
    client_id: str
    epoch: Epoch
    life: str | None


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
            for entry in fields["add"]:
                queue, epoch = Queue(*entry["queue"]), Epoch(*entry["epoch"])
                yield Grant(queue, fields["client_id"], epoch, entry.get("identity"))
        except (KeyError, TypeError) as error:
            raise ValueError(f"assignment record: {error!r} in {record.value[:200]!r}") from error


def _decisions(records: Rows, group: str) -> Iterator[Decision]:
    reader = DecisionReader(group)
    for record in records:
        decision = None if record.value is None else reader.read(record.value)
        if decision is not None:
            yield decision
