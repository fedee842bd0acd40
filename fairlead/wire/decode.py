"""Decodes bytes to typed records; every input record passes here.

It decides which records are refused and why.
"""

from collections.abc import Mapping, MutableMapping
from typing import Any

from fairlead.core.outputs import Request
from fairlead.core.records import Record
from fairlead.wire.errors import Sender, WireError
from fairlead.wire.fields import Fields, Tally
from fairlead.wire.kinds import KINDS, NULLS, Reader
from fairlead.wire.limits import WireLimits
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord
from fairlead.wire.reasons import Reason
from fairlead.wire.strict_json import read_fast, read_strict
from fairlead.wire.texts import GROUP

__all__ = ["VERSION", "decode", "decode_request"]

VERSION = 1
"""The version of the protocol that this module reads."""

_LOG_APPEND_TIME = frozenset(("heartbeats", "releases", "control"))


def decode(
    topic_kind: str,
    raw: RawRecord,
    limits: WireLimits,
    ignored: MutableMapping[str, int] | None = None,
) -> Record:
    """Decode a record of an input topic.

    Args:
        topic_kind: The topic's suffix, for example ``heartbeats``.
        raw: The record.
        limits: The number of shards and the allowed sizes.
        ignored: Per kind, the number of unknown fields; the function adds to it.

    Returns:
        The record. A null value on routes is a deletion (``route`` None), on control a removed rule
        (``value`` None), on offsets an answer about no queue.

    Raises:
        WireError: The record breaks the protocol.
    """
    record: Record = _decode(topic_kind, raw, limits, ignored)
    return record


def decode_request(raw: RawRecord, limits: WireLimits) -> Request:
    """Decode a record of the requests topic; raises WireError as :func:`decode` does."""
    request: Request = _decode("requests", raw, limits, None)
    return request


def _decode(
    topic_kind: str, raw: RawRecord, limits: WireLimits, ignored: MutableMapping[str, int] | None
) -> Any:
    if not raw.append_time_is_log and topic_kind in _LOG_APPEND_TIME:
        raise WireError(
            Reason.NOT_LOG_APPEND_TIME,
            None,
            "the writer has set the record's time",
            "set message.timestamp.type=LogAppendTime on the topic",
        )
    value = raw.value
    if value is None:
        return NULLS[topic_kind](raw, limits)
    if len(value) > limits.bytes_max(topic_kind):
        raise WireError(
            Reason.TOO_LARGE,
            None,
            f"the value has {len(value)} bytes",
            f"send at most {limits.bytes_max(topic_kind)} bytes, in parts where the kind has parts",
        )
    # The fast reader may return values that the strict one refuses. The field readers refuse every
    # such value, and then the strict reader decides. So the result never depends on the fast one.
    body = read_fast(value)
    if body is not None:
        try:
            return _read(topic_kind, body, raw, limits, ignored)
        except WireError:
            pass
    body = read_strict(value)
    try:
        return _read(topic_kind, body, raw, limits, ignored)
    except WireError as error:
        error.sender = _sender(topic_kind, body, raw, limits)
        raise


def _read(
    topic_kind: str,
    body: Any,
    raw: RawRecord,
    limits: WireLimits,
    ignored: MutableMapping[str, int] | None,
) -> Any:
    """Read one object by its kind; if it is accepted, count the ignored fields."""
    if type(body) is not dict:
        raise WireError(
            Reason.NOT_AN_OBJECT, None, "the value is not an object", "send one JSON object"
        )
    tally = Tally()
    fields = Fields(body, tally)
    if fields.integer("v", 1) != VERSION:
        raise WireError(
            Reason.UNSUPPORTED_VERSION, "v", "the version is too new", f"send version {VERSION}"
        )
    kinds = KINDS[topic_kind]
    kind = fields.get("kind", _one_of(kinds))
    if type(kind) is not str or kind not in kinds:
        raise WireError(
            Reason.UNSUPPORTED_KIND,
            "kind",
            "this topic does not have this kind",
            f"send {_one_of(kinds)}",
        )
    record = kinds[kind](fields, raw, limits)
    if ignored is not None and tally.ignored:
        ignored[kind] = ignored.get(kind, 0) + tally.ignored
    return record


def _one_of(kinds: Mapping[str, Reader]) -> str:
    return f"one of {', '.join(kinds)}"


def _sender(topic_kind: str, body: Any, raw: RawRecord, limits: WireLimits) -> Sender | None:
    """Return the sender of a refused record, if a client sent it and names itself.

    The three fields for that are the same in every version of the protocol.
    """
    if topic_kind not in {"heartbeats", "releases"} or type(body) is not dict:
        return None
    fields = Fields(body, Tally())
    try:
        group, member = fields.text("group", GROUP), fields.member()
    except WireError:
        return None
    heartbeat = (
        body.get("kind") == "heartbeat"
        and topic_kind == "heartbeats"
        and raw.key == group.encode()
        and raw.partition == partition_of_group(group, limits.shards)
    )
    return Sender(group, member, heartbeat)
