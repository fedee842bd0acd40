"""Converts values of the core to JSON objects, with fields in the order of docs/protocol.md."""

from collections.abc import Mapping
from typing import Any

from fairlead.core.model import Process, RouteBroker
from fairlead.core.outputs import Add, After, Cause, Cut, Drop, Failure, GroupSummary, Holding, Move
from fairlead.core.records import QueueOffsets

__all__ = [
    "TEXT_MAX",
    "add_body",
    "broker_body",
    "cause_body",
    "cut_body",
    "drop_body",
    "failure_body",
    "holding_body",
    "move_body",
    "plain_text",
    "process_body",
    "queue_offsets_body",
    "summary_body",
]

TEXT_MAX = 300
"""The most characters of an explanation that a record gets; the rest is cut off."""

_CONTROL = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")


def plain_text(text: str) -> str:
    """Return an explanation as one line of limited length, fit for logs and terminals."""
    return text[:TEXT_MAX].encode("utf-8", "replace").decode().translate(_CONTROL)


def drop_body(drop: Drop) -> dict[str, Any]:
    """Return one entry of ``drop``."""
    successor = {} if drop.successor is None else {"successor": drop.successor}
    linger = {} if drop.linger_ms == 0 else {"linger_ms": drop.linger_ms}
    return {"queue": [*drop.queue], "epoch": [*drop.epoch], **successor, **linger}


def add_body(add: Add) -> dict[str, Any]:
    """Return one entry of ``add``."""
    return {
        "queue": [*add.queue],
        "epoch": [*add.epoch],
        "position": [*add.position],
        "why": add.why,
        "after": [_after_body(entry) for entry in add.after],
        **_identity_body(add.identity),
        **({"former": True} if add.former else {}),
    }


def holding_body(holding: Holding) -> dict[str, Any]:
    """Return one entry of ``assigned``; only a gated one has a start position."""
    body: dict[str, Any] = {
        "queue": [*holding.queue],
        "epoch": [*holding.epoch],
        "state": holding.state,
    }
    if holding.state == "gated":
        assert holding.position is not None, "a gated entry has a start"
        body["position"] = [*holding.position]
        body["why"] = holding.why
        body["after"] = [_after_body(entry) for entry in holding.after]
        body |= _identity_body(holding.identity)
    return body


def _identity_body(identity: str | None) -> dict[str, str]:
    """Return the identity of the topic that a start position belongs to, if known."""
    return {} if identity is None else {"identity": identity}


def _after_body(after: After) -> dict[str, Any]:
    client_id, incarnation = after.member
    return {"client_id": client_id, "incarnation": incarnation, "epoch": [*after.epoch]}


def cause_body(cause: Cause) -> dict[str, Any]:
    """Return a cause without its empty fields."""
    body: dict[str, Any] = {"kind": cause.kind}
    if cause.client_id is not None:
        body["client_id"] = cause.client_id
    if cause.topic is not None:
        body["topic"] = cause.topic
    if cause.queue is not None:
        body["queue"] = [*cause.queue]
    if cause.rule is not None or cause.by is not None:
        body |= _rule_body(cause)
    if cause.because is not None:
        body["because"] = cause.because
    if cause.at is not None:
        body["at"] = [cause.at.topic, cause.at.partition, cause.at.offset]
    return body


def _rule_body(cause: Cause) -> dict[str, Any]:
    """Return a cause's rule, and who set it."""
    told = {
        "rule": cause.rule,
        "group": cause.group,
        "removed": cause.removed or None,
        "by": cause.by,
    }
    return {name: value for name, value in told.items() if value is not None}


def move_body(move: Move) -> dict[str, Any]:
    """Return one move of a queue; the start only if it has one."""
    body: dict[str, Any] = {
        "queue": [*move.queue],
        "stage": move.stage,
        "client_id": move.member.client_id,
        "epoch": [*move.epoch],
    }
    if move.position is not None:
        body["position"] = [*move.position]
    if move.why is not None:
        body["why"] = move.why
    if move.unsafe:
        body["unsafe"] = True
    return body


def failure_body(failure: Failure) -> dict[str, Any]:
    """Return a topic whose allocation failed."""
    return {
        "topic": failure.topic,
        "code": failure.code,
        "message": plain_text(failure.message),
    }


def summary_body(summary: GroupSummary) -> dict[str, Any]:
    """Return the state of a group; ``unsafe`` and what follows only if there is something."""
    told: dict[str, Any] = {
        "unsafe": summary.unsafe or None,
        "footing": summary.footing,
        "exclusive": None if summary.exclusive else False,
    }
    return {
        "phase": summary.phase,
        "queues": summary.queues,
        "unassigned": summary.unassigned,
        "in_handover": summary.in_handover,
        "pending": summary.pending,
        **{name: value for name, value in told.items() if value is not None},
    }


def cut_body(cut: Cut) -> dict[str, Any]:
    """Return what the engine had read, topics and partitions in order."""
    body: dict[str, Any] = {
        "generation": cut.generation,
        "shard": cut.shard,
        "step": cut.step,
        "begin": _ends(cut.begin),
        "positions": _ends(cut.positions),
    }
    if cut.origin is not None:
        begin = _ends(cut.origin.begin)
        body["origin"] = {"generation": cut.origin.generation, "begin": begin}
    return body


def _ends(positions: Mapping[str, Mapping[int, int]]) -> dict[str, dict[str, int]]:
    return {
        topic: {str(partition): ends[partition] for partition in sorted(ends)}
        for topic, ends in sorted(positions.items())
    }


def process_body(process: Process | None) -> dict[str, Any] | None:
    """Return the process that a notice names as the winner."""
    return None if process is None else {"start_ms": process.start_ms, "uuid": process.uuid}


def broker_body(broker: RouteBroker, *, detailed: bool) -> dict[str, Any]:
    """Return one broker of a route; leaders and zones only if ``detailed``."""
    return {
        "broker_name": broker.broker_name,
        "cluster": broker.cluster,
        "perm": broker.perm,
        "read_queue_nums": broker.read_queue_nums,
        "write_queue_nums": broker.write_queue_nums,
        "addresses": {name: broker.addresses[name] for name in sorted(broker.addresses, key=int)},
        "leaders": broker.leaders if detailed else None,
        "zones": broker.zones if detailed else None,
    }


def queue_offsets_body(known: QueueOffsets) -> dict[str, Any]:
    """Return a bridge's offsets of one queue."""
    for_time = known.for_time
    return {
        "queue": [*known.queue],
        "min": known.min_offset,
        "max": known.max_offset,
        "committed": None if known.committed is None else [*known.committed],
        "for_time": None
        if for_time is None
        else {"timestamp_ms": for_time[0], "offset": for_time[1]},
    }
