"""The audit records of the engine as values, whole decisions joined from their parts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from fairlead.core.model import Epoch, MessageQueue, Position
from fairlead.core.outputs import Cut
from fairlead.engine.replay import check_shard, cut_of
from fairlead.recording import RecordingFolder
from fairlead.verify.docket import Docket, evidence_of
from fairlead.wire.decision_parts import DecisionParts, PartName
from fairlead.wire.engine_shapes import check_decision
from fairlead.wire.raw import RawRecord

__all__ = ["Audit", "AuditMove", "read_audits", "whole_audits"]


@dataclass(frozen=True, slots=True)
class AuditMove:
    """One line of a decision. ``unsafe``: it was granted although somebody may still work."""

    queue: MessageQueue
    stage: str
    client_id: str
    epoch: Epoch
    position: Position | None
    why: str | None
    unsafe: bool

    @property
    def text(self) -> str:
        """The line in words."""
        queue = "/".join(map(str, self.queue))
        return f"{queue} {self.stage}, {self.client_id}, {self.epoch[0]}.{self.epoch[1]}"


@dataclass(frozen=True, slots=True)
class Audit:
    """One decision. ``row`` is its first record, without its content.

    ``superseded``: an engine wrote it after a newer one had begun to decide on the group.

    ``failures``: topic -> why its allocation failed. ``at_ms``: when the newest record that it
    rests on was appended. ``written_ms``: when its own last part was.
    """

    group: str
    epoch: Epoch
    previous: Epoch
    triggers: tuple[str, ...]
    causes: Sequence[Mapping[str, Any]]
    strategy: str
    members: tuple[str, ...]
    moves: tuple[AuditMove, ...]
    phase: str
    queues: int
    in_handover: int
    unassigned: int
    failures: Mapping[str, str]
    alarms: tuple[str, ...]
    clock_ms: int
    at_ms: int
    written_ms: int
    cut: Cut
    row: RawRecord
    superseded: bool = False

    @property
    def text(self) -> str:
        """The decision in words."""
        return f"decision {self.epoch[0]}.{self.epoch[1]} of {self.group}"


def read_audits(recording: RecordingFolder, docket: Docket) -> Iterator[Audit]:
    """Yield every whole decision in the order of the topic.

    What cannot be read is a finding of S3.

    Raises:
        RecordingError: the recording is damaged.
    """

    def unread(row: RawRecord, why: str) -> None:
        docket.find("S3", f"a decision {why}", evidence_of(row, "this is the record"))

    rows = recording.all_rows("decisions")
    yield from whole_audits(rows, recording.manifest.partitions.shards, unread)


def whole_audits(
    rows: Iterable[RawRecord], shards: int, unread: Callable[[RawRecord, str], None]
) -> Iterator[Audit]:
    """Yield every whole decision of some rows of the decisions topic, in their order.

    A decision whose last part never came was never complete: its engine died. ``unread`` is told
    of what is no decision, and why.
    """
    parts: dict[str, DecisionParts[Audit]] = {}
    for row in rows:
        try:
            body = orjson.loads(row.value or b"")
            check_decision(body)
            audit = _audit(body, row._replace(key=None, value=None))
            check_shard(audit.cut, shards)
            name = PartName.of(body)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            unread(row, f"cannot be read ({type(error).__name__}: {error})")
            continue
        whole = parts.setdefault(audit.group, DecisionParts()).join(name, audit)
        if whole is not None:
            yield _joined(whole.parts, superseded=whole.superseded)


def _joined(parts: list[Audit], *, superseded: bool) -> Audit:
    if len(parts) == 1 and not superseded:
        return parts[0]
    return replace(
        parts[0],
        written_ms=parts[-1].written_ms,
        causes=[cause for part in parts for cause in part.causes],
        members=tuple(member for part in parts for member in part.members),
        moves=tuple(move for part in parts for move in part.moves),
        failures={topic: why for part in parts for topic, why in part.failures.items()},
        superseded=superseded,
    )


def _audit(body: Mapping[str, Any], row: RawRecord) -> Audit:
    state = body["state"]
    return Audit(
        group=str(body["group"]),
        epoch=Epoch(*body["epoch"]),
        previous=Epoch(*body["previous_epoch"]),
        triggers=tuple(body["triggers"]),
        causes=body["cause"],
        strategy=str(body["strategy"]),
        members=tuple(body["members"]),
        moves=tuple(_move(move) for move in body["moves"]),
        phase=str(state["phase"]),
        queues=int(state["queues"]),
        in_handover=int(state["in_handover"]),
        unassigned=int(state["unassigned"]),
        failures={str(each["topic"]): str(each["message"]) for each in body["failures"]},
        alarms=tuple(body["alarms"]),
        clock_ms=int(body["clock_ms"]),
        at_ms=int(body["at_ms"]),
        written_ms=row.append_ms,
        cut=cut_of(body["cut"]),
        row=row,
    )


def _move(fields: Mapping[str, Any]) -> AuditMove:
    position = fields.get("position")
    return AuditMove(
        MessageQueue(*fields["queue"]),
        str(fields["stage"]),
        str(fields["client_id"]),
        Epoch(*fields["epoch"]),
        None if position is None else Position(*position),
        fields.get("why"),
        bool(fields.get("unsafe")),
    )
