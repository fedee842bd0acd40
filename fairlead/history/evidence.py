"""A record as evidence: where it stands, when it was appended, and what is in it."""

from dataclasses import dataclass
from typing import Any, Final, Self

import orjson

from fairlead.kafka.missing_record import RecordPlace
from fairlead.wire.raw import RawRecord

__all__ = ["CONTENT_MAX", "Evidence"]

CONTENT_MAX: Final = 4_096
"""Show this many bytes of a record's content at most."""
_KEY_MAX: Final = 512


@dataclass(frozen=True, slots=True)
class Evidence:
    """One record.

    Attributes:
        place: its place.
        append_ms: when it was appended.
        key: its key, printable; None: it has none.
        value: its content: JSON if it is JSON and whole, else text; None: it has none.
        cut: whether there is more of it.
    """

    place: RecordPlace
    append_ms: int
    key: str | None
    value: Any
    cut: bool

    @classmethod
    def of(cls, row: RawRecord) -> Self:
        """Return a record as evidence."""
        content = row.value
        cut = content is not None and len(content) > CONTENT_MAX
        key = None if row.key is None else _text(row.key[:_KEY_MAX])
        place = (row.topic, row.partition, row.offset)
        value = None if content is None else _value(content[:CONTENT_MAX])
        return cls(place, row.append_ms, key, value, cut)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "at": [*self.place],
            "append_ms": self.append_ms,
            "key": self.key,
            "value": self.value,
            "cut": self.cut,
        }


def _value(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return _text(content)


def _text(content: bytes) -> str:
    """Return bytes as text; what is no UTF-8 stands there as an escape."""
    return content.decode(errors="backslashreplace")
