"""Of the rows that wait for a group only the newest of each subject are kept, and not too many."""

from dataclasses import replace

import pytest

from fairlead.codec.quarantine import HeldRow
from fairlead.core.model import (
    Epoch,
    MemberKey,
    MemberProfile,
    MessageQueue,
    Position,
    Process,
)
from fairlead.core.records import (
    Claims,
    GroupRecord,
    Heartbeat,
    Leave,
    OffsetsKnown,
    Progress,
    QueueOffsets,
    QueueProgress,
    Release,
    Reset,
    RouteChanged,
    RuleSet,
    TopicAbsent,
)
from fairlead.engine import quarantine_rows
from fairlead.engine.parsed_row import ParsedRow
from fairlead.engine.quarantine_rows import hold

A, B = MemberKey("a", "1"), MemberKey("b", "1")
Q0, Q1 = MessageQueue("orders", "main", 0), MessageQueue("orders", "main", 1)
E1, E2 = Epoch(1, 1), Epoch(1, 2)
P0 = Position(0, 0)


def _beat(member: MemberKey, sequence: int, *, decide: bool = False) -> Heartbeat:
    beat = Heartbeat(
        "orders", member, Process(1, "u"), 1, sequence, 1, MemberProfile(), (), None, 0
    )
    return replace(beat, decide=decide)


def _progress(*queues: MessageQueue, epoch: Epoch = E1) -> Progress:
    return Progress("orders", A, tuple(QueueProgress(queue, epoch, P0) for queue in queues))


def _release(queue: MessageQueue, epoch: Epoch, position: Position | None = P0) -> Release:
    return Release("orders", A, queue, epoch, position)


def _offsets(*queues: MessageQueue) -> OffsetsKnown:
    known = tuple(QueueOffsets(queue, 0, 1, None, None) for queue in queues)
    return OffsetsKnown("orders", "orders", "one", known)


def _absent(topic: str) -> TopicAbsent:
    return TopicAbsent("orders", topic, "main")


def _claims(generation: int, part: int = 0) -> Claims:
    return Claims("orders", A, generation, part, 2, ())


def _rule(rule: str, value: object, *subject: str) -> RuleSet:
    return RuleSet("orders", rule, subject, value)


def _lines(*records: GroupRecord) -> list[ParsedRow]:
    return [
        ParsedRow(HeldRow("t", 0, offset, 1, 1, b"orders", b"{}"), record)
        for offset, record in enumerate(records)
    ]


@pytest.mark.parametrize(
    "older, newer",
    [
        (_beat(A, 1), _beat(A, 2)),
        (_beat(A, 1, decide=True), _beat(A, 2, decide=True)),
        (Leave("orders", A, 3), Leave("orders", A, 3)),
        (_progress(Q0, Q1), _progress(Q0, Q1)),
        (_claims(2), _claims(2)),
        (_release(Q0, E1), _release(Q0, E1)),
        (_rule("timing", {}), _rule("timing", None)),
        (Reset("orders", Q0, 5), Reset("orders", Q0, 6)),
        (RouteChanged("orders", None), RouteChanged("orders", None)),
        (_offsets(Q0, Q1), _offsets(Q0, Q1)),
        (_absent("orders"), _absent("orders")),
    ],
)
def test_a_newer_one_replaces(older: GroupRecord, newer: GroupRecord) -> None:
    """Of two records that speak of the same thing only the newer waits."""
    held = hold(_lines(older, newer))
    assert [line.row.offset for line in held.lines] == [1]
    assert (held.superseded, held.given_up) == (1, 0)


@pytest.mark.parametrize(
    "one, other",
    [
        (_beat(A, 1), _beat(B, 2)),
        (_beat(A, 1), Leave("orders", A, 2)),
        (_beat(A, 1, decide=True), _beat(A, 2)),
        (_progress(Q0), _progress(Q0, Q1)),
        (_progress(Q0), _progress(Q0, epoch=E2)),
        (_claims(2), _claims(2, part=1)),
        (_claims(2), _claims(3)),
        (_release(Q0, E1), _release(Q0, E2)),
        (_release(Q0, E1), _release(Q0, E1, None)),
        (_release(Q0, E1), _release(Q1, E1)),
        (_rule("timing", {}), _rule("slots", "group")),
        (_rule("drain", {}, "a"), _rule("drain", {}, "b")),
        (Reset("orders", Q0, 5), Reset("orders", Q1, 5)),
        (RouteChanged("orders", None), RouteChanged("payments", None)),
        (_offsets(Q0), _offsets(Q1)),
        (_absent("orders"), _absent("payments")),
    ],
)
def test_records_of_different_things_both_wait(one: GroupRecord, other: GroupRecord) -> None:
    """Records that speak of different things wait both, in their order."""
    held = hold(_lines(one, other))
    assert [line.row.offset for line in held.lines] == [0, 1]
    assert (held.superseded, held.given_up) == (0, 0)


def test_above_the_cap_the_oldest_rows_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the cap the oldest rows of what is repeated anyway are given up first."""
    monkeypatch.setattr(quarantine_rows, "HELD_ROWS_MAX", 3)
    held = hold(
        _lines(
            _rule("timing", {}),
            _release(Q0, E1),
            _beat(A, 1),
            _progress(Q0),
            _beat(B, 1),
            _claims(2),
        )
    )
    assert [line.row.offset for line in held.lines] == [0, 1, 5]
    assert (held.superseded, held.given_up) == (0, 3)


def test_holding_twice_is_holding_once() -> None:
    """What was chosen before stays chosen: nothing depends on how often rows were looked at."""
    lines = _lines(_beat(A, 1), _progress(Q0), _beat(A, 2), _rule("timing", {}), _beat(B, 9))
    assert hold([*hold(lines[:3]).lines, *lines[3:]]).lines == hold(lines).lines
