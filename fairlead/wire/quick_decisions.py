"""Reads one part of a decision as quickly as possible (docs/protocol.md §3.14)."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from fairlead.core.model import Epoch, MessageQueue
from fairlead.wire.decision_parts import PartName
from fairlead.wire.quick_fields import (
    RecordPlace,
    body_of,
    epoch_of,
    integer_of,
    queue_of,
    text_of,
    words_of,
)
from fairlead.wire.raw import RawRecord

__all__ = ["ADDED", "JOINED", "CutPlace", "GroupCounts", "Part", "Step", "read_part"]

ADDED: Final = ("gated", "granted")
"""The stages at which the client may work under the grant."""
_STAGES: Final = (*ADDED, "dropped", "resolved")
JOINED: Final = ("members", "moves", "cause", "failures")
"""The lists of a decision that its parts share."""


class Step(NamedTuple):
    """One move of a decision: what it did to one queue.

    ``unsafe``: the grant did not wait for a member that may be working on the queue.
    """

    queue: MessageQueue
    stage: str
    client_id: str
    epoch: Epoch
    why: str | None
    unsafe: bool = False


class GroupCounts(NamedTuple):
    """The counters in the ``state`` of a decision."""

    queues: int = 0
    unassigned: int = 0
    in_handover: int = 0
    pending: int = 0
    unsafe: int = 0


class CutPlace(NamedTuple):
    """The position of a decision's cut among those of its shard (docs/protocol.md §3.14).

    ``generation``: the generation of the engine that wrote it. ``began``: the generation with which
    the state began.
    """

    generation: int
    began: int
    step: int


class Part(NamedTuple):
    """One part of a decision."""

    name: PartName
    epoch: Epoch
    body: dict[str, Any]
    steps: tuple[Step, ...]
    counts: GroupCounts
    cut: CutPlace
    row: RawRecord


def read_part(row: RawRecord) -> tuple[str, Part]:
    """Return the group and the content of a record of the decisions topic.

    Raises:
        ValueError, KeyError, TypeError, IndexError, AttributeError: it is not a decision.
    """
    assert row.value is not None
    body = body_of(row.value)
    if body["kind"] != "decision":
        raise ValueError("not a decision")
    for name in JOINED:
        if type(body[name]) is not list:
            raise ValueError(f"{name} is not a list")
    state = body["state"]
    text_of(state["phase"])
    epoch_of(body["previous_epoch"])
    text_of(body["strategy"])
    for name in ("part", "parts", "at_ms"):
        integer_of(body[name])
    for name in ("members", "triggers", "alarms"):
        words_of(body[name])
    for cause in body["cause"]:
        _check_cause(cause)
    counts = GroupCounts(*(integer_of(state[name]) for name in GroupCounts._fields[:-1]))
    unsafe = integer_of(state.get("unsafe", 0))
    part = Part(
        name=PartName.of(body),
        epoch=epoch_of(body["epoch"]),
        body=body,
        steps=tuple(_step(move) for move in body["moves"]),
        counts=counts._replace(unsafe=unsafe),
        cut=_cut_place(body),
        row=row,
    )
    return text_of(body["group"]), part


def _cut_place(body: Mapping[str, Any]) -> CutPlace:
    cut = body["cut"]
    origin = cut.get("origin")
    began = 1 if origin is None else integer_of(origin["generation"])
    return CutPlace(integer_of(cut["generation"]), began, integer_of(cut["step"]))


def _check_cause(cause: Mapping[str, Any]) -> None:
    text_of(cause["kind"])
    text_of(cause.get("client_id", ""))
    if "at" in cause:
        topic, partition, offset = cause["at"]
        RecordPlace(text_of(topic), integer_of(partition), integer_of(offset))


def _step(move: Mapping[str, Any]) -> Step:
    stage = move["stage"]
    if stage not in _STAGES:
        raise ValueError("not a stage")
    why = move.get("why")
    return Step(
        queue_of(move["queue"]),
        stage,
        text_of(move["client_id"]),
        epoch_of(move["epoch"]),
        None if why is None else text_of(why),
        move.get("unsafe", False) is True,
    )
