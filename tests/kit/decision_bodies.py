"""Decisions that are made by hand, as their records are read."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from fairlead.wire.decision_records import DecisionRecord, whole_decisions
from fairlead.wire.raw import RawRecord

TOPIC = "t.decisions"
START_MS = 1_781_000_000_000
CLIENT = "10.0.0.7@4121#1"

Step = tuple[str, int, str, tuple[int, int]]
"""Stage, queue id, client, epoch of the grant."""


def decision(
    number: int,
    moves: Sequence[Step] = (),
    causes: Sequence[Mapping[str, Any]] = (),
    *,
    new: bool = True,
    **fields: Any,
) -> dict[str, Any]:
    """Return a decision record; it was made in the second of its number.

    ``new``: it has an epoch of its own; else it has that of the decision before it.
    """
    return {
        "kind": "decision",
        "group": "orders",
        "epoch": [1, number],
        "previous_epoch": [1, number - 1 if new else number],
        "part": 0,
        "parts": 1,
        "triggers": list(dict.fromkeys(str(cause["kind"]) for cause in causes)),
        "cause": [*causes],
        "strategy": "AVG",
        "members": ["c1", "c2"],
        "moves": [
            {
                "queue": ["orders", "main", queue_id],
                "stage": stage,
                "client_id": client_id,
                "epoch": [*epoch],
                **({"position": [0, 7], "why": "progress"} if stage in _ADDS else {}),
            }
            for stage, queue_id, client_id, epoch in moves
        ],
        "state": {
            "phase": "stable",
            "queues": 4,
            "unassigned": 0,
            "in_handover": 0,
            "pending": 0,
        },
        "failures": [],
        "alarms": [],
        "clock_ms": number * 1_000,
        "at_ms": START_MS + number * 1_000,
        "cut": {"generation": 1, "shard": 0, "step": number, "begin": {}, "positions": {}},
        **fields,
    }


_ADDS = ("gated", "granted")


def encoded_decision(number: int, moves: Sequence[Mapping[str, Any]]) -> bytes:
    """Return a decision of the group orders by generation 3, as the engine writes it."""
    places = {"fairlead.heartbeats": {"0": number}}
    body = decision(number, causes=[{"kind": "client_joined", "client_id": CLIENT}])
    body |= {
        "v": 1,
        "epoch": [3, number],
        "previous_epoch": [3, number - 1],
        "members": [CLIENT],
        "moves": moves,
        "state": {**body["state"], "queues": 1},
        "clock_ms": 1,
        "at_ms": START_MS,
        "cut": {"generation": 3, "shard": 0, "step": number, "begin": places, "positions": places},
    }
    return orjson.dumps(body)


def audits(*bodies: Mapping[str, Any]) -> list[DecisionRecord]:
    """Return whole decisions as they are read; what cannot be read is a failure."""

    def unread(row: RawRecord, why: str) -> None:
        raise AssertionError(row, why)

    rows = [
        RawRecord(TOPIC, 0, offset, body["at_ms"], False, b"orders", orjson.dumps(body))  # noqa: FBT003
        for offset, body in enumerate(bodies)
    ]
    return list(whole_decisions(rows, 2, unread))
