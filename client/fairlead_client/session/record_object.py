"""The form of every record of Fairlead's: a JSON object, of a version that is known."""

from typing import Any, Final

import orjson

from fairlead_client.errors import MalformedRecordError

RECORD_BYTES_MAX: Final = 512 * 1024
"""No record of the protocol is greater: who writes handovers may write what the broker takes."""


def record_object(value: bytes) -> dict[str, Any]:
    """Return the object that a record's bytes say.

    Raises:
        MalformedRecordError: it is none, too big, or of another version.
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
        # What is nested a thousand times has no repr.
        found = version if isinstance(version, int | str) else "that is no number"
        raise MalformedRecordError("v", f"version {found} is not known")
    return record
