"""The engine's decision records as values: what it wrote is what is read, parts joined."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.outputs import Cut, Decision, Move, Origin
from fairlead.wire.decision_parts import PartName
from fairlead.wire.decision_records import (
    DecisionReader,
    DecisionRecord,
    MoveRecord,
    decision_names,
    decisions_of,
    read_cut,
    whole_decisions,
)
from fairlead.wire.encode import encode
from fairlead.wire.raw import OutgoingRecord, RawRecord
from tests.kit.longest_names import decision_of_the_longest_names
from tests.kit.wire_outputs import DECISION, NAMES, PARTITIONS
from tests.kit.wire_records import example


def _row(value: bytes, offset: int = 7, key: bytes = b"orders") -> RawRecord:
    stamp = (offset, 1_781_000_000_000 + offset, False)
    return RawRecord("fairlead.decisions", 0, *stamp, key, value)


def _rows(written: list[OutgoingRecord]) -> list[RawRecord]:
    return [
        _row(record.value or b"", offset, record.key or b"")
        for offset, record in enumerate(written)
    ]


def _read(*bodies: dict[str, Any]) -> list[DecisionRecord | None]:
    """Return what each of these records of the group completes."""
    reader = DecisionReader("orders")
    found = []
    for offset, body in enumerate(bodies):
        key = str(body["group"]).encode()
        found.append(reader.read(_row(orjson.dumps(body), offset, key)))
    return found


def _as_written(move: Move) -> MoveRecord:
    """Return a line as its reader sees it: a record does not say which incarnation it is of."""
    said = (move.queue, move.stage, move.member.client_id, move.epoch)
    return MoveRecord(*said, move.position, move.why, move.unsafe)


@pytest.mark.parametrize(
    "written",
    [
        DECISION,
        replace(DECISION, state=replace(DECISION.state, unsafe=2), alarms=("barrier_mute",)),
        replace(
            DECISION,
            cut=replace(DECISION.cut, origin=Origin(2, {"fairlead.heartbeats": {0: 4}})),
        ),
        decision_of_the_longest_names(0),
        decision_of_the_longest_names(500),
    ],
    ids=["shown", "unsafe", "origin", "empty", "parts"],
)
def test_what_was_written_is_read(written: Decision) -> None:
    """Every field of a decision is read as the engine decided it, whatever its length."""
    rows = _rows(encode(written, NAMES, PARTITIONS))
    (found,) = decisions_of(written.group, rows)
    for name in (
        "group", "epoch", "previous_epoch", "triggers", "strategy", "members", "state", "alarms",
        "clock_ms", "at_ms", "cut",
    ):  # fmt: skip
        assert getattr(found, name) == getattr(written, name), name
    assert found.moves == tuple(map(_as_written, written.moves))
    assert [cause["kind"] for cause in found.causes] == [each.kind for each in written.cause]
    assert [*found.failures] == [each.topic for each in written.failures]
    assert (found.generation, found.phase) == (written.cut.generation, written.state.phase)
    assert (found.row.offset, found.row.value) == (0, None)
    assert found.written_ms == rows[-1].append_ms


def test_what_led_to_it_has_a_place() -> None:
    """Causes without a record, such as the trigger, name none."""
    body = example("decision")
    body["cause"] = [
        {"kind": "client_joined", "client_id": "b", "at": ["x.heartbeats", 1, 88123]},
        {"kind": "trigger"},
    ]
    (found,) = _read(body)
    assert found is not None
    assert [*found.places()] == [("x.heartbeats", 1, 88123)]
    assert not found.is_settled
    assert found.cut.end_of("fairlead.heartbeats", 0) > 0
    assert found.cut.end_of("fairlead.heartbeats", 9) == 0


@pytest.mark.parametrize(
    "change, word",
    [
        ({"kind": "request"}, "kind"),
        ({"moves": [{**example("decision")["moves"][0], "stage": "thrown"}]}, "stage"),
        ({"cut": {}}, "generation"),
        ({"epoch": 4}, "decision record"),
        ({"state": {}}, "phase"),
    ],
    ids=["kind", "stage", "missing", "type", "state"],
)
def test_what_is_no_decision_record_is_refused(change: dict[str, Any], word: str) -> None:
    """What is no decision record is refused by name and not skipped."""
    with pytest.raises(ValueError, match=word):
        _read({**example("decision"), **change})


def test_a_decision_is_complete_with_its_last_part() -> None:
    """A decision is complete with its last part, and its lists are those of all parts together."""
    body = example("decision")
    first, second = body["moves"]
    parts = [
        {**body, "part": 0, "parts": 2, "members": ["a"], "moves": [first]},
        {**body, "group": "other"},
        {**body, "part": 1, "parts": 2, "members": ["c"], "moves": [second], "cause": []},
    ]
    begun, others, found = _read(*parts)
    assert begun is others is None
    assert found is not None
    assert found.members == ("a", "c")
    assert [move.stage for move in found.moves] == ["dropped", "gated"]
    assert found.row.offset == 0
    assert found.written_ms == found.row.append_ms + 2


def test_parts_of_a_dead_engine() -> None:
    """A decision that was never written to its end is left out, and the next one is read."""
    body = example("decision")
    begun, whole, rest = _read(
        {**body, "part": 0, "parts": 3}, body, {**body, "part": 2, "parts": 3}
    )
    assert begun is rest is None
    assert whole is not None


def test_every_group_is_read_by_who_names_none() -> None:
    """The parts of two groups' decisions may stand one between the others."""
    rows: list[RawRecord] = []
    for part in range(2):
        for group in ("orders", "payments"):
            body = {**example("decision"), "group": group, "part": part, "parts": 2}
            rows.append(_row(orjson.dumps(body), len(rows), group.encode()))
    unread: list[str] = []
    found = [*whole_decisions(rows, 1, lambda _row, why: unread.append(why))]
    assert [each.group for each in found] == ["orders", "payments"]
    assert unread == []
    assert [*whole_decisions(rows, 0, lambda _row, why: unread.append(why))] == []
    assert len(unread) == 2
    assert "names shard 0" in unread[0]


def test_a_decision_is_named_as_people_read_it() -> None:
    """A decision and its lines are named as people read them."""
    (found,) = _read(example("decision"))
    assert found is not None
    assert found.text == f"decision {found.epoch} of orders"
    assert found.moves[0].text.startswith("orders/main/2 dropped, ")
    assert str(Epoch(3, 41)) == "3.41"
    assert str(MessageQueue("orders", "main", 2)) == "orders/main/2"


def test_a_cut_of_the_shown_record() -> None:
    """A cut is read with partitions as numbers; its name is of the engine that wrote it."""
    body = example("decision")
    cut = read_cut(body["cut"])
    assert isinstance(cut, Cut)
    assert PartName.of(body).generation == cut.generation
    assert all(type(number) is int for ends in cut.positions.values() for number in ends)


def test_decisions_of_one_epoch_have_their_places() -> None:
    """A decision that grants nothing has the epoch of the one before, and a place of its own."""
    reader, value = DecisionReader(), orjson.dumps(example("decision"))
    found = [reader.read(_row(value, offset)) for offset in (7, 8)]
    names = decision_names([each for each in found if each is not None] * 2)
    assert [name["at"][2] for name in names] == [7, 8]
    assert names[0]["epoch"] == names[1]["epoch"]
