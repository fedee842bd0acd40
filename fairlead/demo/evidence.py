"""Collects the history of a run from where it was written: journals and topics, nobody's memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from fairlead.local.decisions import Decision, DecisionReader
from fairlead.local.topic_content import StoredRecord, TopicContent, read_to_end
from fairlead.verify.history import Epoch, History, Journal, ProgressReport, Queue, StepRecord
from fairlead.verify.journal import read_journal


@dataclass(frozen=True, slots=True)
class Scene:
    """Where the evidence of a run lies.

    Attributes:
        bootstrap: the brokers.
        prefix: of Fairlead's topics.
        group: the group of the consumers.
        source: the topic they read.
        broker_name: what its queues are called after, by the bridge.
        journals: per client id, the file of its journal.
    """

    bootstrap: str
    prefix: str
    group: str
    source: str
    broker_name: str
    journals: Mapping[str, Path]


def collect(scene: Scene, steps: Sequence[StepRecord]) -> History:
    """Return the history of a run.

    Raises:
        EnvironmentMissingError: a topic or the brokers are gone.
        OSError: a journal cannot be read.
        ValueError: a record of Fairlead's own topics cannot be understood.
    """
    decisions = read_to_end(scene.bootstrap, f"{scene.prefix}decisions")
    assignments = read_to_end(scene.bootstrap, f"{scene.prefix}assignments")
    heartbeats = read_to_end(scene.bootstrap, f"{scene.prefix}heartbeats")
    source = read_to_end(scene.bootstrap, scene.source)
    return History(
        journals=tuple(_journals(scene.journals)),
        steps=tuple(steps),
        source=source_content(source, scene.broker_name),
        decisions=tuple(_decisions(decisions.records, scene.group)),
        grants=frozenset(grants(assignments.records, scene.group)),
        progress=tuple(progress_reports(heartbeats.records, scene.group)),
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


def progress_reports(records: Iterable[StoredRecord], group: str) -> Iterator[ProgressReport]:
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


def grants(records: Iterable[StoredRecord], group: str) -> Iterator[tuple[Queue, str, Epoch]]:
    """Yield every add of every assignment record of the group: queue, client and epoch.

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
                yield Queue(*entry["queue"]), fields["client_id"], Epoch(*entry["epoch"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"assignment record: {error!r} in {record.value[:200]!r}") from error


def _journals(files: Mapping[str, Path]) -> Iterator[Journal]:
    for client_id, path in sorted(files.items()):
        yield read_journal(path, client_id)


def _decisions(records: Iterable[StoredRecord], group: str) -> Iterator[Decision]:
    reader = DecisionReader(group)
    for record in records:
        decision = None if record.value is None else reader.read(record.value)
        if decision is not None:
            yield decision
