"""The offsets of one broadcasting member, as the text of its file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from fairlead_client.errors import MalformedRecordError
from fairlead_client.model import Queue

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
    return LocalOffsets(_text(body, "group"), _text(body, "client_id"), offsets)


def _entry(entry: Any, path: str) -> tuple[Queue, LocalOffset]:
    if not isinstance(entry, dict):
        raise MalformedRecordError(path, "is no object")
    match entry.get("queue"):
        case [str(topic), str(broker_name), int(queue_id)] if _is_number(queue_id):
            queue = Queue(topic, broker_name, queue_id)
        case _:
            raise MalformedRecordError(f"{path}.queue", "is not [topic, broker name, queue id]")
    offset, identity = entry.get("offset"), entry.get("identity")
    if not isinstance(offset, int) or not _is_number(offset):
        raise MalformedRecordError(f"{path}.offset", "is missing or no whole number from 0 on")
    if not isinstance(identity, str | None):
        raise MalformedRecordError(f"{path}.identity", "is no text")
    return queue, LocalOffset(offset, identity)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise MalformedRecordError(name, "is missing or no text")
    return value
