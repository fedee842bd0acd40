"""Reads a client's records from bytes (protocol §3.6, §3.11-3.13).

It checks every field that it uses, and ignores unknown ones. An unreadable record raises an error
that names the field; the caller counts it and reads on.
"""

from typing import Any, Final

import orjson

from fairlead_client.errors import MalformedRecordError
from fairlead_client.model import Epoch, Holder, Position, Queue
from fairlead_client.session.record_object import optional_text_field, record_object, text_field
from fairlead_client.session.records import Add, Assigned, Assignment, Drop, Notice, Release
from fairlead_client.session.states import Standing

PARTS_MAX = 10_000
INTEGER_MAX: Final = 2**63 - 1
QUEUE_ID_MAX: Final = 2**31 - 1
NAME_MAX: Final = 255
"""The longest client id; groups, topics and brokers have shorter names."""
_PAIR: Final = 2
STATES = ("held", "draining", "gated")


def decode_assignment(value: bytes) -> Assignment | Notice | None:
    """Return a record of the assignments topic; None for an unknown kind.

    Raises:
        MalformedRecordError: a field is missing or has a wrong type.
    """
    record = record_object(value)
    kind = _name(record, "kind")
    if kind == "assignment":
        return _assignment(record)
    return _notice(record) if kind == "notice" else None


def decode_release(value: bytes) -> Release | None:
    """Return a release; None for an unknown kind.

    Raises:
        MalformedRecordError: a field is missing or has a wrong type.
    """
    record = record_object(value)
    if _name(record, "kind") != "release":
        return None
    epoch = _epoch(record.get("epoch"), "epoch")
    holder = Holder(_name(record, "client_id"), _name(record, "incarnation"), epoch)
    position = record.get("position")
    return Release(
        _name(record, "group"),
        _queue(record.get("queue"), "queue"),
        holder,
        None if position is None else _position(position, "position"),
    )


def is_generation(value: bytes) -> bool:
    """Return whether a record of the generations topic is an engine driver's claim.

    Raises:
        MalformedRecordError: it is no record at all.
    """
    return text_field(record_object(value), "kind") == "generation"


def decode_key(key: bytes) -> tuple[str, str] | None:
    """Return (group, client id) from a key of the assignments topic; None for another key."""
    try:
        parts = orjson.loads(key)
    except orjson.JSONDecodeError:
        return None
    match parts:
        case [str(group), str(client_id), str(), int() | str()]:
            return (group, client_id)
        case _:
            return None


def _assignment(record: dict[str, Any]) -> Assignment:
    parts = _number(record.get("parts"), "parts")
    part = _number(record.get("part"), "part")
    if not 0 <= part < parts <= PARTS_MAX:
        raise MalformedRecordError("part", f"{part} of {parts}")
    return Assignment(
        group=_name(record, "group"),
        client_id=_name(record, "client_id"),
        incarnation=_name(record, "incarnation"),
        generation=_number(record.get("generation"), "generation"),
        epoch=_epoch(record.get("epoch"), "epoch"),
        part=part,
        parts=parts,
        drop=tuple(
            Drop(
                _queue(entry.get("queue"), "drop.queue"),
                _epoch(entry.get("epoch"), "drop.epoch"),
                optional_text_field(entry, "successor"),
                _number(entry.get("linger_ms", 0), "drop.linger_ms"),
            )
            for entry in _list(record, "drop")
        ),
        add=tuple(_add(entry, "add") for entry in _list(record, "add")),
        assigned=tuple(_assigned(entry) for entry in _list(record, "assigned")),
        standing=_standing(record.get("standby")),
    )


def _standing(word: object) -> Standing:
    """Return who decides what the client holds; a client never guesses at an unknown word."""
    if word is None:
        return Standing.OWN
    for standing in (Standing.FOLLOW, Standing.FREEZE):
        if word == standing:
            return standing
    raise MalformedRecordError("standby", f"{str(word)[:80]!r} is neither follow nor freeze")


def _assigned(entry: dict[str, Any]) -> Assigned:
    state = text_field(entry, "state")
    if state not in STATES:
        raise MalformedRecordError("assigned.state", f"{state!r} is none of {STATES}")
    return Assigned(
        _queue(entry.get("queue"), "assigned.queue"),
        _epoch(entry.get("epoch"), "assigned.epoch"),
        state,
        _add(entry, "assigned") if state == "gated" else None,
    )


def _add(entry: dict[str, Any], path: str) -> Add:
    return Add(
        _queue(entry.get("queue"), f"{path}.queue"),
        _epoch(entry.get("epoch"), f"{path}.epoch"),
        _position(entry.get("position"), f"{path}.position"),
        tuple(
            Holder(
                _name(holder, "client_id"),
                _name(holder, "incarnation"),
                _epoch(holder.get("epoch"), f"{path}.after.epoch"),
            )
            for holder in _list(entry, "after")
        ),
        optional_text_field(entry, "identity"),
    )


def _notice(record: dict[str, Any]) -> Notice:
    winner = record.get("winner")
    if winner is not None and not isinstance(winner, dict):
        raise MalformedRecordError("winner", "is no object")
    return Notice(
        group=_name(record, "group"),
        client_id=_name(record, "client_id"),
        incarnation=_name(record, "incarnation"),
        generation=_number(record.get("generation"), "generation"),
        code=_name(record, "code"),
        message=text_field(record, "message"),
        winner=None
        if winner is None
        else (_number(winner.get("start_ms"), "winner.start_ms"), text_field(winner, "uuid")),
        reason=optional_text_field(record, "reason"),
    )


def _name(record: dict[str, Any], name: str) -> str:
    """Return a text that is no longer than a client id may be."""
    return _short(text_field(record, name), name)


def _short(text: str, path: str) -> str:
    if len(text) > NAME_MAX:
        raise MalformedRecordError(path, f"it has {len(text)} characters, more than {NAME_MAX}")
    return text


def _number(value: object, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise MalformedRecordError(path, "is missing or no integer")
    return value


def _list(record: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = record.get(name)
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise MalformedRecordError(name, "is missing or no list of objects")
    return value


def _pair(value: object, path: str) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != _PAIR:
        raise MalformedRecordError(path, "is no pair of integers")
    return (_counted(value[0], f"{path}[0]"), _counted(value[1], f"{path}[1]"))


def _counted(value: object, path: str, greatest: int = INTEGER_MAX) -> int:
    """Return an offset, half of an epoch or a queue id, within Kafka's own range.

    Others may write handovers with any number, and no library can seek below 0.
    """
    number = _number(value, path)
    if not 0 <= number <= greatest:
        raise MalformedRecordError(path, f"{number} is not from 0 to {greatest}")
    return number


def _epoch(value: object, path: str) -> Epoch:
    return Epoch(*_pair(value, path))


def _position(value: object, path: str) -> Position:
    return Position(*_pair(value, path))


def _queue(value: object, path: str) -> Queue:
    match value:
        case [str(topic), str(broker_name), queue_id]:
            return Queue(
                _short(topic, f"{path}[0]"),
                _short(broker_name, f"{path}[1]"),
                _counted(queue_id, f"{path}[2]", QUEUE_ID_MAX),
            )
        case _:
            raise MalformedRecordError(path, "is no [topic, broker_name, queue_id]")
