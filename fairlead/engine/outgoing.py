"""What a shard writes, as records and as counters.

Decides nothing: it describes refusals and encodes outputs in their order.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fairlead.codec.quarantine import HeldRow
from fairlead.core.model import Source
from fairlead.core.outputs import Assignment, Decision, Gone, Notice, Origin, Output, Rejection
from fairlead.engine.context import ShardContext
from fairlead.engine.parsed_row import ParsedRow, raw_of, source_of
from fairlead.engine.reading import Refused
from fairlead.wire.encode import encode
from fairlead.wire.encode_reject import encode_reject
from fairlead.wire.errors import WireError
from fairlead.wire.raw import OutgoingRecord, RawRecord
from fairlead.wire.reasons import notice_code

__all__ = [
    "PUBLISHED",
    "STEP_FAILED",
    "TRIGGERED_MS",
    "Stamp",
    "count_outputs",
    "count_written",
    "records_of",
    "records_of_refused",
    "rejection_of",
    "stamped",
]


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a batch adds to its decisions: where it began, a shard's alarm, the state's origin."""

    begin: Mapping[str, Mapping[int, int]]
    alarm: str | None = None
    origin: Origin | None = None


TRIGGERED_MS = "triggered_ms"
"""Counter name: when a kind of trigger last led to a decision."""

PUBLISHED = "published"
"""Counter name: records to members."""

_PUBLISHED_KINDS: Mapping[type, str] = {Assignment: "assignment", Notice: "notice", Gone: "gone"}

STEP_FAILED = "step_failed"
"""The reason and the alarm of a record or a group on which a step fails."""


def records_of(
    outputs: Iterable[Output], lines: Sequence[ParsedRow], context: ShardContext
) -> list[OutgoingRecord]:
    """Return the records of a step's outputs; ``lines`` are its input.

    Raises:
        OversizeError: a record would be longer than the protocol allows.
    """
    rows: dict[tuple[str, int, int], HeldRow] = {}
    records: list[OutgoingRecord] = []
    for output in outputs:
        if not isinstance(output, Rejection):
            records += encode(output, context.topics, context.partitions)
            continue
        rows = rows or {line.row[:3]: line.row for line in lines}
        row = rows.get(output.source[:3])
        # An earlier batch has read a record that waited: only its place is known.
        raw = _gone(output.source) if row is None else raw_of(row)
        records.append(encode_reject(output, raw, context.topics, context.engine_version))
    return records


def _gone(source: Source) -> RawRecord:
    return RawRecord(*source, append_time_is_log=True, key=None, value=None)


def rejection_of(line: ParsedRow, error: str) -> Rejection:
    """Return the rejection of a record on which its group's step fails with this exception."""
    return Rejection(
        source_of(line.row),
        STEP_FAILED,
        None,
        f"the engine fails on this record with {error}; its group goes on without it",
        "report it with the record, and send the record again to an engine with the fix",
    )


def records_of_refused(refused: Refused, context: ShardContext) -> list[OutgoingRecord]:
    """Return the dead letter of a row, and a notice to its sender if the row names one."""
    error, row = refused.error, refused.row
    letter = encode_reject(error, row, context.topics, context.engine_version)
    if not isinstance(error, WireError) or error.sender is None:
        return [letter]
    notice = Notice(
        error.sender.group,
        error.sender.member,
        context.generation,
        notice_code(error.reason),
        f"{error.reason} at {error.field or 'the record'}: {error.detail}; {error.remedy}",
        None,
        row.append_ms,
    )
    return [letter, *encode(notice, context.topics, context.partitions)]


def stamped(outputs: Iterable[Output], stamp: Stamp) -> tuple[Output, ...]:
    """Return the outputs with the stamp of their batch on every decision."""
    return tuple(
        _stamped(output, stamp) if isinstance(output, Decision) else output for output in outputs
    )


def _stamped(decision: Decision, stamp: Stamp) -> Decision:
    alarms = decision.alarms
    if stamp.alarm is not None:
        alarms = tuple(sorted({*alarms, stamp.alarm}))
    cut = replace(decision.cut, begin=stamp.begin, origin=stamp.origin)
    return replace(decision, alarms=alarms, cut=cut)


def count_outputs(outputs: Iterable[Output], counts: Counter[str]) -> None:
    """Count records to members, refusals and decisions."""
    for output in outputs:
        kind = _PUBLISHED_KINDS.get(type(output))
        if kind is not None:
            counts[f"{PUBLISHED}/{kind}"] += 1
        if isinstance(output, Rejection):
            counts[f"rejects/{output.reason}"] += 1
        elif isinstance(output, Decision):
            _count_decision(output, counts)


def _count_decision(decision: Decision, counts: Counter[str]) -> None:
    counts["decisions"] += 1
    first = decision.triggers[0] if decision.triggers else "none"
    counts.update(f"decision_triggers/{trigger}" for trigger in decision.triggers)
    for trigger in decision.triggers:
        times = [each.at.append_ms for each in decision.cause if each.kind == trigger and each.at]
        counts[f"{TRIGGERED_MS}/{trigger}"] = max(
            counts[f"{TRIGGERED_MS}/{trigger}"], decision.at_ms
        )
        waited_ms = decision.at_ms - min(times, default=decision.at_ms)
        counts[f"trigger_wait_ms/{trigger}"] += max(waited_ms, 0)
    counts.update(f"queue_steps/{move.stage}/{first}" for move in decision.moves)
    counts.update(f"alarms/{alarm}" for alarm in decision.alarms)


def count_written(
    records: Iterable[OutgoingRecord], context: ShardContext, counts: Counter[str]
) -> None:
    """Count the records by topic."""
    names: Mapping[str, str | None] = {
        topic: context.topics.suffix(topic) for topic in context.topics.outputs
    }
    counts.update(f"written/{names[record.topic]}" for record in records)
