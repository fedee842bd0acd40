"""The form of all Fairlead records: a JSON object of a known version."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from fairlead_client.errors import MalformedRecordError

RECORD_BYTES_MAX: Final = 512 * 1024
"""The longest record that a client reads; the broker takes longer ones from other writers."""


def record_object(value: bytes) -> dict[str, Any]:
    """Return the object of a record's bytes.

    Raises:
        MalformedRecordError: it is no object, too long, or of another version.
    """
    if len(value) > RECORD_BYTES_MAX:
        raise MalformedRecordError("record", f"{len(value)} bytes, more than {RECORD_BYTES_MAX}")
    try:
        record = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        raise MalformedRecordError("record", f"no JSON: {error}") from error
    if not isinstance(record, dict):
        raise MalformedRecordError("record", "is no JSON object")
    version = record.get("v")
    if version != 1:
        # A deeply nested value has no repr.
        shown = version if isinstance(version, int | str) else "that is no number"
        raise MalformedRecordError("v", f"version {shown} is unknown")
    return record


def text_field(record: Mapping[str, Any], name: str, path: str = "") -> str:
    """Return a text field; `path` is the prefix of its name in errors.

    Raises:
        MalformedRecordError: it is missing or no text.
    """
    value = record.get(name)
    if not isinstance(value, str):
        raise MalformedRecordError(path + name, "is missing or no text")
    return value


def optional_text_field(record: Mapping[str, Any], name: str, path: str = "") -> str | None:
    """Return a text field, or None if it is missing or null.

    Raises:
        MalformedRecordError: it is no text.
    """
    return None if record.get(name) is None else text_field(record, name, path)


def whole_number_field(record: Mapping[str, Any], name: str, path: str = "") -> int:
    """Return a field with a whole number from 0 on.

    Raises:
        MalformedRecordError: it is missing or no such number.
    """
    value = record.get(name)
    if not isinstance(value, int) or not is_whole_number(value):
        raise MalformedRecordError(path + name, "is missing or no whole number from 0 on")
    return value


def is_whole_number(value: object) -> bool:
    """Return whether a JSON value is a whole number from 0 on; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
