"""The form of every record of Fairlead's: a JSON object, of a version that is known."""

from typing import Any

import orjson

from fairlead_client.errors import MalformedRecordError


def record_object(value: bytes) -> dict[str, Any]:
    """Return the object that a record's bytes say.

    Raises:
        MalformedRecordError: it is none, or of another version.
    """
    try:
        record = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        raise MalformedRecordError("record", f"no JSON: {error}") from error
    if not isinstance(record, dict):
        raise MalformedRecordError("record", "is no JSON object")
    if record.get("v") != 1:
        raise MalformedRecordError("v", f"version {record.get('v')!r} is not known")
    return record
