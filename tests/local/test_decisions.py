"""Decision records as the demo and the bench read them, and what they add up to."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from fairlead.local.decisions import Decision, DecisionReader, Epoch, Move, Ownership, Queue, Stage

RECORD: dict[str, Any] = {
    "v": 1,
    "kind": "decision",
    "group": "orders",
    "epoch": [3, 41],
    "part": 0,
    "parts": 1,
    "cause": [
        {"kind": "client_joined", "client_id": "b", "at": ["x.heartbeats", 1, 88123]},
        {"kind": "trigger"},
    ],
    "members": ["a", "b"],
    "moves": [
        {
            "queue": ["orders", "main", 2],
            "stage": "dropped",
            "client_id": "a",
            "epoch": [3, 39],
        },
        {
            "queue": ["orders", "main", 2],
            "stage": "gated",
            "client_id": "b",
            "epoch": [3, 41],
            "position": [0, 9120],
            "why": "progress",
        },
    ],
    "state": {
        "phase": "handing_over", "queues": 4, "unassigned": 0, "in_handover": 1, "pending": 0,
    },
    "cut": {"generation": 3, "positions": {"x.heartbeats": {"1": 88124}}},
}  # fmt: skip


def _queue(number: int) -> Queue:
    return Queue("orders", "main", number)


def _decision(*moves: tuple[int, Stage, str, int], members: tuple[str, ...] = ("a",)) -> Decision:
    return Decision(
        group="g",
        epoch=Epoch(1, max(move[3] for move in moves)),
        generation=1,
        members=members,
        moves=tuple(Move(_queue(n), stage, who, Epoch(1, e)) for n, stage, who, e in moves),
        phase="stable",
        settled=True,
        read={},
    )


def test_read() -> None:
    """A decision record as docs/protocol.md shows it is read with all that concerns owners."""
    decision = DecisionReader("orders").read(orjson.dumps(RECORD))
    assert decision is not None
    assert decision.epoch == Epoch(3, 41)
    assert decision.generation == 3
    assert decision.members == ("a", "b")
    assert decision.moves == (
        Move(_queue(2), "dropped", "a", Epoch(3, 39)),
        Move(_queue(2), "gated", "b", Epoch(3, 41), 9120, "progress"),
    )
    assert (decision.phase, decision.settled) == ("handing_over", False)
    assert decision.read == {("x.heartbeats", 1): 88124}
    assert decision.causes == (("x.heartbeats", 1, 88123),)


def test_troubles() -> None:
    """Alarms and topics that cannot be allocated are read, the latter from all parts."""
    parts = [
        {**RECORD, "part": part, "parts": 2, "alarms": ["allocation_failed"], "failures": failures}
        for part, failures in enumerate(
            (
                [{"topic": "a", "code": "x", "message": "m"}],
                [{"topic": "b", "code": "y", "message": "n"}],
            )
        )
    ]
    reader = DecisionReader("orders")
    assert reader.read(orjson.dumps(parts[0])) is None
    decision = reader.read(orjson.dumps(parts[1]))
    assert decision is not None
    assert decision.alarms == ("allocation_failed",)
    assert decision.failures == {"a": "m", "b": "n"}


@pytest.mark.parametrize(
    "change, word",
    [
        ({"kind": "request"}, "kind"),
        ({"moves": [{**RECORD["moves"][0], "stage": "thrown"}]}, "stage"),
        ({"cut": {}}, "generation"),
        ({"epoch": 4}, "decision record"),
    ],
    ids=["kind", "stage", "missing", "type"],
)
def test_refused(change: dict[str, Any], word: str) -> None:
    """What is no decision record is refused by name and not skipped."""
    with pytest.raises(ValueError, match=word):
        DecisionReader("orders").read(orjson.dumps({**RECORD, **change}))


def test_parts() -> None:
    """A decision is complete with its last part, and its lists are those of all parts together."""
    reader = DecisionReader("orders")
    first, second = RECORD["moves"]
    parts = [
        {**RECORD, "part": 0, "parts": 2, "moves": [first]},
        {**RECORD, "part": 1, "parts": 2, "moves": [second], "members": ["c"], "cause": []},
    ]
    assert reader.read(orjson.dumps(parts[0])) is None
    assert reader.read(orjson.dumps({**RECORD, "group": "other"})) is None
    decision = reader.read(orjson.dumps(parts[1]))
    assert decision is not None
    assert decision.members == ("a", "b", "c")
    assert [move.stage for move in decision.moves] == ["dropped", "gated"]


def test_parts_of_a_dead_engine() -> None:
    """A decision that was never written to its end is left out, and the next one is read."""
    reader = DecisionReader("orders")
    assert reader.read(orjson.dumps({**RECORD, "part": 0, "parts": 3})) is None
    whole = reader.read(orjson.dumps(RECORD))
    assert whole is not None
    assert whole.members == ("a", "b")
    assert reader.read(orjson.dumps({**RECORD, "part": 2, "parts": 3})) is None


def test_ownership() -> None:
    """Grants and drops add up to owners, open drops and moves between clients."""
    ownership = Ownership()
    ownership.take(_decision((0, "granted", "a", 1), (1, "granted", "a", 1)))
    assert (ownership.moves, ownership.dropped) == (2, set())
    ownership.take(_decision((1, "dropped", "a", 1), members=("a", "b")))
    assert ownership.dropped == {(_queue(1), Epoch(1, 1))}
    ownership.take(_decision((1, "granted", "b", 3), members=("a", "b")))
    assert ownership.dropped == set()
    assert ownership.granted == {_queue(0): ("a", Epoch(1, 1)), _queue(1): ("b", Epoch(1, 3))}
    assert (ownership.moves, ownership.decisions) == (3, 3)


def test_settled() -> None:
    """Settled means stable, with these members and so many queues, all owned by members."""
    ownership = Ownership()
    assert not ownership.is_settled_among(frozenset(), 0)
    both = _decision((0, "granted", "a", 1), (1, "granted", "b", 1), members=("a", "b"))
    ownership.take(both)
    assert ownership.is_settled_among(frozenset("ab"), 2)
    assert not ownership.is_settled_among(frozenset("abc"), 2)
    assert not ownership.is_settled_among(frozenset("ab"), 3)
    ownership.newest = replace(both, settled=False)
    assert not ownership.is_settled_among(frozenset("ab"), 2)
    ownership.newest = replace(both, members=("a",))
    assert not ownership.is_settled_among(frozenset("a"), 2)
