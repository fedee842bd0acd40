"""Encodes the records that the engine, its driver and operators write.

The same value always gives the same bytes. No record is longer than the protocol allows: long sets
are cut into parts; a record that would still be too long is a defect and is not written.
"""

from dataclasses import asdict
from typing import Any, TypeVar, assert_never

import orjson

from fairlead.core.model import MemberKey
from fairlead.core.outputs import (
    ENTRIES_PER_PART,
    Assignment,
    Decision,
    Gone,
    Notice,
    Request,
)
from fairlead.core.publishing.waiting import WAITING
from fairlead.core.records import Generation, Reset, RuleSet, Tick
from fairlead.wire.bodies import (
    add_body,
    cause_body,
    cut_body,
    drop_body,
    failure_body,
    holding_body,
    move_body,
    plain_text,
    process_body,
    summary_body,
)
from fairlead.wire.control_records import reset_key
from fairlead.wire.limits import CAUSES_MAX, DECISION_ENTRIES_PER_PART, RECORD_BYTES_MAX
from fairlead.wire.partition import partition_of_client, partition_of_group
from fairlead.wire.raw import OutgoingRecord, Partitions
from fairlead.wire.topics import TopicNames

__all__ = [
    "OversizeError",
    "encode",
    "encode_generation",
    "encode_reset",
    "encode_rule",
    "encode_tick",
    "record_bytes",
]

_Entry = TypeVar("_Entry")


class OversizeError(Exception):
    """A record would be longer than the protocol allows; it must not be written."""

    def __init__(self, kind: str, size: int) -> None:
        super().__init__(
            f"a {kind} record would have {size} bytes; the limit is {RECORD_BYTES_MAX}"
        )


def record_bytes(kind: str, fields: dict[str, Any]) -> bytes:
    """Return the bytes of a record of this kind; raise OversizeError if they are too many."""
    value = orjson.dumps({"v": 1, "kind": kind, **fields})
    if len(value) > RECORD_BYTES_MAX:
        raise OversizeError(kind, len(value))
    return value


def encode(
    output: Assignment | Gone | Notice | Decision | Request,
    names: TopicNames,
    partitions: Partitions,
) -> list[OutgoingRecord]:
    """Return the records for one output of a step, in order.

    Raises:
        OversizeError: one of them would be too long.
    """
    match output:
        case Assignment():
            return _assignment(output, names, partitions)
        case Gone():
            return _gone(output, names, partitions)
        case Notice():
            return [_notice(output, names, partitions)]
        case Decision():
            return _decision(output, names)
        case Request():
            return _request(output, names)
        case _:
            assert_never(output)


def _member_key(group: str, member: MemberKey, part: int | str) -> bytes:
    return orjson.dumps([group, member.client_id, member.incarnation, part])


def _assignment(
    assignment: Assignment, names: TopicNames, partitions: Partitions
) -> list[OutgoingRecord]:
    """Return one record for each part, then a null for each former part."""
    topic = names.name("assignments")
    partition = partition_of_client(
        assignment.group, assignment.member.client_id, partitions.assignments
    )
    records = []
    for part in range(max(assignment.parts, assignment.parts_before)):
        value = _assignment_part(assignment, part) if part < assignment.parts else None
        key = _member_key(assignment.group, assignment.member, part)
        records.append(OutgoingRecord(topic, partition, key, value))
    return records


def _assignment_part(assignment: Assignment, part: int) -> bytes:
    client_id, incarnation = assignment.member
    causes = assignment.cause[:CAUSES_MAX] if part == 0 else ()
    return record_bytes(
        "assignment",
        {
            "group": assignment.group,
            "client_id": client_id,
            "incarnation": incarnation,
            "generation": assignment.generation,
            "epoch": [*assignment.epoch],
            "part": part,
            "parts": assignment.parts,
            "drop": [drop_body(entry) for entry in _share(assignment.drop, part, ENTRIES_PER_PART)],
            "add": [add_body(entry) for entry in _share(assignment.add, part, ENTRIES_PER_PART)],
            "assigned": [
                holding_body(entry) for entry in _share(assignment.assigned, part, ENTRIES_PER_PART)
            ],
            "cause": [cause_body(cause) for cause in causes],
            "at_ms": assignment.at_ms,
            **({} if assignment.standby is None else {"standby": assignment.standby}),
        },
    )


def _share(entries: tuple[_Entry, ...], part: int, entries_per_part: int) -> tuple[_Entry, ...]:
    return entries[part * entries_per_part : (part + 1) * entries_per_part]


def _gone(gone: Gone, names: TopicNames, partitions: Partitions) -> list[OutgoingRecord]:
    """Return a null for each part of the member's set, and for its notice."""
    topic = names.name("assignments")
    partition = partition_of_client(gone.group, gone.member.client_id, partitions.assignments)
    parts: list[int | str] = [*range(max(gone.parts, 1))]
    if gone.notice:
        parts.append("notice")
    return [
        OutgoingRecord(topic, partition, _member_key(gone.group, gone.member, part), None)
        for part in parts
    ]


def _notice(notice: Notice, names: TopicNames, partitions: Partitions) -> OutgoingRecord:
    client_id, incarnation = notice.member
    value = record_bytes(
        "notice",
        {
            "group": notice.group,
            "client_id": client_id,
            "incarnation": incarnation,
            "generation": notice.generation,
            "code": notice.code,
            "message": plain_text(notice.message),
            "winner": process_body(notice.winner),
            "at_ms": notice.at_ms,
            **_reason_body(notice),
        },
    )
    return OutgoingRecord(
        names.name("assignments"),
        partition_of_client(notice.group, client_id, partitions.assignments),
        _member_key(notice.group, notice.member, "notice"),
        value,
    )


def _reason_body(notice: Notice) -> dict[str, Any]:
    """Return why a member waits; only notices about waiting have the field."""
    return {"reason": notice.reason} if notice.code == WAITING else {}


def _decision(decision: Decision, names: TopicNames) -> list[OutgoingRecord]:
    """Return one record for each part; every list continues in the next one."""
    longest = max(
        len(entries)
        for entries in (decision.cause, decision.members, decision.moves, decision.failures)
    )
    parts = max(1, -(-longest // DECISION_ENTRIES_PER_PART))
    key = decision.group.encode()
    return [
        OutgoingRecord(names.name("decisions"), 0, key, _decision_part(decision, part, parts))
        for part in range(parts)
    ]


def _decision_part(decision: Decision, part: int, parts: int) -> bytes:
    def share(entries: tuple[_Entry, ...]) -> tuple[_Entry, ...]:
        return _share(entries, part, DECISION_ENTRIES_PER_PART)

    return record_bytes(
        "decision",
        {
            "group": decision.group,
            "epoch": [*decision.epoch],
            "previous_epoch": [*decision.previous_epoch],
            "part": part,
            "parts": parts,
            "triggers": [*decision.triggers],
            "cause": [cause_body(cause) for cause in share(decision.cause)],
            "strategy": decision.strategy,
            "members": [*share(decision.members)],
            "moves": [move_body(move) for move in share(decision.moves)],
            "state": summary_body(decision.state),
            "failures": [failure_body(failure) for failure in share(decision.failures)],
            "alarms": [*decision.alarms],
            "clock_ms": decision.clock_ms,
            "at_ms": decision.at_ms,
            "cut": cut_body(decision.cut),
        },
    )


def _request(request: Request, names: TopicNames) -> list[OutgoingRecord]:
    """Return one record, or several independent ones if there are many queues."""
    queues = request.queues
    shares: list[list[list[str | int]] | None] = [None]
    if queues is not None:
        firsts = range(0, max(1, len(queues)), ENTRIES_PER_PART)
        shares = [[[*queue] for queue in queues[at : at + ENTRIES_PER_PART]] for at in firsts]
    return [
        OutgoingRecord(
            names.name("requests"), 0, request.group.encode(), _request_value(request, share)
        )
        for share in shares
    ]


def _request_value(request: Request, queues: list[list[str | int]] | None) -> bytes:
    fields: dict[str, Any] = {
        "group": request.group,
        "what": request.what,
        "topic": request.topic,
        "queues": queues,
        "consume_timestamp_ms": request.consume_timestamp_ms,
    }
    if request.consumer is not None:
        fields["consumer"] = request.consumer
    return record_bytes("request", fields)


def encode_tick(tick: Tick) -> bytes:
    """Return the value of a tick; ticks have no key and go to every partition of heartbeats."""
    fields: dict[str, Any] = {"generation": tick.generation}
    if tick.control_end:
        fields["control_end"] = tick.control_end
    if tick.input_lost:
        fields["input_lost"] = True
    if tick.secret is not None:
        fields["secret"] = tick.secret
    return record_bytes("tick", fields)


def encode_generation(claim: Generation, names: TopicNames) -> OutgoingRecord:
    """Return a driver's claim of a generation."""
    body: dict[str, object] = {
        "driver": claim.driver,
        "started_ms": claim.started_ms,
        "version": claim.version,
    }
    if claim.settings is not None:
        body["settings"] = asdict(claim.settings)
    if claim.seals:
        body["seals"] = [*claim.seals]
    value = record_bytes("generation", body)
    return OutgoingRecord(names.name("generations"), 0, claim.driver.encode(), value)


def encode_rule(rule: RuleSet) -> bytes:
    """Return the value of a rule, with its author and, if given, the reason.

    Its key is :func:`fairlead.wire.control_records.rule_key`. It goes to the group's partition; a
    rule for all groups goes to every partition.
    """
    fields = {"group": rule.group, "rule": rule.rule, "value": rule.value, "by": rule.by}
    if rule.because is not None:
        fields["because"] = rule.because
    return record_bytes("rule", fields)


def encode_reset(reset: Reset, names: TopicNames, shards: int) -> OutgoingRecord:
    """Return the reset of one queue's start, with its author and, if given, the reason."""
    fields = {
        "group": reset.group,
        "queue": [*reset.queue],
        "offset": reset.offset,
        "by": reset.by,
    }
    if reset.because is not None:
        fields["because"] = reset.because
    if reset.identity is not None:
        fields["identity"] = reset.identity
    value = record_bytes("reset", fields)
    return OutgoingRecord(
        names.name("control"),
        partition_of_group(reset.group, shards),
        reset_key(reset.group, reset.queue),
        value,
    )
