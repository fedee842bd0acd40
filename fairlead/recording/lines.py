"""Turns a record of a topic into one line of JSON, and back.

UTF-8 keys and values, such as all of Fairlead's own, become texts, so that zcat and jq show them;
other bytes become ``{"base64": …}``.
"""

import base64
import binascii
from collections.abc import Sequence
from typing import Any

import orjson

from fairlead.wire.raw import RawRecord

__all__ = ["line_of", "record_of"]

Headers = Sequence[tuple[str, bytes | None]]


def line_of(record: RawRecord, headers: Headers = ()) -> bytes:
    """Return the line of a record; the manifest has topic and partition."""
    body: dict[str, Any] = {"offset": record.offset, "append_ms": record.append_ms}
    if not record.append_time_is_log:
        body["stamped_by"] = "writer"
    body["key"], body["value"] = _plain(record.key), _plain(record.value)
    if headers:
        body["headers"] = [[name, _plain(value)] for name, value in headers]
    return orjson.dumps(body) + b"\n"


def record_of(line: bytes, topic: str, partition: int) -> RawRecord:
    """Return the record of a line.

    Raises:
        ValueError, KeyError, TypeError: the line is no record.
    """
    body = orjson.loads(line)
    offset, append_ms = body["offset"], body["append_ms"]
    if type(offset) is not int or type(append_ms) is not int:
        raise TypeError("offset and append_ms must be whole numbers")
    return RawRecord(
        topic,
        partition,
        offset,
        append_ms,
        body.get("stamped_by") != "writer",
        _bytes(body["key"]),
        _bytes(body["value"]),
    )


def _plain(content: bytes | None) -> str | dict[str, str] | None:
    if content is None:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _bytes(plain: Any) -> bytes | None:
    if plain is None:
        return None
    if isinstance(plain, str):
        return plain.encode()
    try:
        return base64.b64decode(plain["base64"], validate=True)
    except binascii.Error as error:
        raise ValueError(f"base64: {error}") from error
