"""The offsets of one broadcasting member, as the text of its file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from fairlead_client.errors import MalformedRecordError
from fairlead_client.model import Queue
from fairlead_client.session.record_object import (
    is_whole_number,
    optional_text_field,
    text_field,
    whole_number_field,
)

VERSION = 1


@dataclass(frozen=True, slots=True)
class LocalOffset:
    """The next offset to read; `identity` is its topic's identity, None if unknown."""

    offset: int
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class LocalOffsets:
    """The offsets of one member of a group (LocalFileOffsetStore's OffsetSerializeWrapper)."""

    group: str
    client_id: str
    offsets: Mapping[Queue, LocalOffset] = field(default_factory=dict)


def encode_local_offsets(local: LocalOffsets) -> bytes:
    """Return the text of the file, with the queues in order."""
    return orjson.dumps(
        {
            "v": VERSION,
            "group": local.group,
            "client_id": local.client_id,
            "offsets": [
                {"queue": [*queue], "offset": entry.offset, "identity": entry.identity}
                for queue, entry in sorted(local.offsets.items())
            ],
        },
        option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE,
    )


def decode_local_offsets(text: bytes) -> LocalOffsets:
    """Read the text of a file.

    Raises:
        MalformedRecordError: a field is damaged; the error names it.
    """
    try:
        body = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise MalformedRecordError("file", f"no JSON: {error}") from error
    if not isinstance(body, dict) or body.get("v") != VERSION:
        raise MalformedRecordError("v", f"is not {VERSION}")
    entries = body.get("offsets")
    if not isinstance(entries, list):
        raise MalformedRecordError("offsets", "is missing or no list")
    offsets: dict[Queue, LocalOffset] = {}
    for at, entry in enumerate(entries):
        queue, offset = _entry(entry, f"offsets[{at}]")
        if queue in offsets:
            raise MalformedRecordError(f"offsets[{at}].queue", "appears twice")
        offsets[queue] = offset
    return LocalOffsets(text_field(body, "group"), text_field(body, "client_id"), offsets)


def _entry(entry: Any, path: str) -> tuple[Queue, LocalOffset]:
    if not isinstance(entry, dict):
        raise MalformedRecordError(path, "is no object")
    match entry.get("queue"):
        case [str(topic), str(broker_name), int(queue_id)] if is_whole_number(queue_id):
            queue = Queue(topic, broker_name, queue_id)
        case _:
            raise MalformedRecordError(f"{path}.queue", "is not [topic, broker name, queue id]")
    offset = whole_number_field(entry, "offset", f"{path}.")
    return queue, LocalOffset(offset, optional_text_field(entry, "identity", f"{path}."))
