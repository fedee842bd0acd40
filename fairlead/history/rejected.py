"""The records that the engine rejected, by the rejects topic: when, why, and what to do."""

import binascii
import re
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any, Final

import orjson

from fairlead.wire.raw import RawRecord

__all__ = ["Rejected", "rejected_of"]

_GROUP: Final = re.compile(rb'"group"\s*:\s*"([^"\\]{1,120})"')
_OFFSETS: Final = "offsets"


@dataclass(frozen=True, slots=True)
class Rejected:
    """One rejected record.

    Attributes:
        row: the reject, which has the key of the rejected record.
        reason: a word of docs/protocol.md §10.
        field: the path of the wrong field; None: the whole record.
        detail: what is wrong with it.
        remedy: what to send instead.
        place: the place of the rejected record.
        size: of its value in bytes; None: it was null.
        sha256: of its value.
        excerpt: the first bytes of its value.
        version: of the engine that rejected it.
    """

    row: RawRecord
    reason: str
    field: str | None
    detail: str
    remedy: str
    place: tuple[str, int, int]
    size: int | None
    sha256: str | None
    excerpt: bytes | None
    version: str

    @property
    def group(self) -> str | None:
        """Whose record it was, by its key or else by what is left of it; None: unknown."""
        key = self.row.key
        if key is not None and not key.startswith(b"["):
            suffix = self.place[0].rpartition(".")[2]
            return None if suffix in ("routes", "generations") else _printable(key)
        try:
            parts = orjson.loads(key or b"null")
        except orjson.JSONDecodeError:
            parts = None
        if isinstance(parts, list) and parts:
            number = 1 if self.place[0].endswith(_OFFSETS) else 0
            return str(parts[number]) if len(parts) > number else None
        match = _GROUP.search(self.excerpt or b"")
        return None if match is None else match[1].decode(errors="replace")

    @property
    def key_text(self) -> str | None:
        """The key, printable; None: it had none."""
        return None if self.row.key is None else _printable(self.row.key)

    @property
    def excerpt_text(self) -> str | None:
        """The first bytes of the value, printable; None: it was null."""
        return None if self.excerpt is None else _printable(self.excerpt)

    @property
    def is_cut(self) -> bool:
        """Whether the value is longer than its excerpt."""
        return self.excerpt is not None and (self.size or 0) > len(self.excerpt)

    def to_json(self, append_ms: int | None) -> dict[str, Any]:
        """Return JSON values: the record in readable form, and as it was.

        ``append_ms``: when the rejected record was appended; None: not known.
        """
        return {
            "at": [*self.place],
            "append_ms": append_ms,
            "reason": self.reason,
            "field": self.field,
            "detail": self.detail,
            "remedy": self.remedy,
            "group": self.group,
            "key": self.key_text,
            "key_base64": _base64(self.row.key),
            "size": self.size,
            "sha256": self.sha256,
            "excerpt": self.excerpt_text,
            "excerpt_base64": _base64(self.excerpt),
            "excerpt_cut": self.is_cut,
            "version": self.version,
            "reject_ms": self.row.append_ms,
            "reject_at": [self.row.topic, self.row.partition, self.row.offset],
        }


def rejected_of(row: RawRecord) -> Rejected | None:
    """Return what a record of rejects says; None: it is none of docs/protocol.md §3.15."""
    try:
        body = orjson.loads(row.value or b"")
        if body["kind"] != "reject":
            return None
        topic, partition, offset = body["at"]
        excerpt = body["excerpt"]
        return Rejected(
            row=row,
            reason=str(body["reason"]),
            field=body["field"],
            detail=str(body["detail"]),
            remedy=str(body["remedy"]),
            place=(str(topic), int(partition), int(offset)),
            size=body["size"],
            sha256=body["sha256"],
            excerpt=None if excerpt is None else b64decode(excerpt, validate=True),
            version=str(body["version"]),
        )
    except (ValueError, KeyError, TypeError, binascii.Error):
        return None


def _base64(content: bytes | None) -> str | None:
    return None if content is None else b64encode(content).decode()


def _printable(content: bytes) -> str:
    r"""Write bytes so that nothing in them controls a terminal.

    >>> _printable(b'{"a":1}\x1b[2J\xff')
    '{"a":1}\\x1b[2J\\xff'
    """
    text = content.decode(errors="backslashreplace")
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
