"""The form of all Fairlead records: a JSON object of a known version."""

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
