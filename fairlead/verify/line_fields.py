"""The fields of a line of a journal or a fault log, checked one by one."""

from collections.abc import Collection, Mapping
from typing import Any, Final

import orjson

from fairlead.core.model import Epoch, MessageQueue

__all__ = ["LINE_BYTES_MAX", "LineError", "LineFields", "fields_of"]

LINE_BYTES_MAX: Final = 65_536
"""A longer line is no line of a journal or a fault log."""

_INTEGER_MAX: Final = 2**63 - 1


class LineError(ValueError):
    """An unreadable line: the field, what is wrong with it, and what it should be."""

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        where = f"field {field!r}: " if field else ""
        super().__init__(f"{where}{problem}; {remedy}")


class LineFields:
    """The fields of one line; each method checks the field that it returns."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        """Wrap the fields of a JSON object."""
        self._fields = fields

    def kind(self, known: Collection[str]) -> str:
        """Return the kind of the line.

        Raises:
            LineError: it is not one of the known kinds.
        """
        kind = self._of("kind")
        if not isinstance(kind, str) or kind not in known:
            raise LineError("kind", f"{_shown(kind)} is unknown", f"give one of {', '.join(known)}")
        return str(kind)

    def text(self, name: str) -> str:
        """Return a text that is not empty.

        Raises:
            LineError: the field is missing, empty, or no text.
        """
        return self._text(name, self._of(name))

    def integer(self, name: str, *, least: int = 0, default: int | None = None) -> int:
        """Return a whole number.

        Raises:
            LineError: the field is missing without a default, no whole number, or out of bounds.
        """
        if default is not None and name not in self._fields:
            return default
        return self._integer(name, self._of(name), least)

    def optional_integer(self, name: str) -> int | None:
        """Return a whole number, or None if there is no such field.

        Raises:
            LineError: the field is no whole number, or out of bounds.
        """
        return self._integer(name, self._fields[name], 0) if name in self._fields else None

    def queue(self) -> MessageQueue:
        """Return the queue.

        Raises:
            LineError: it is missing, or not [topic, broker name, number].
        """
        queue = self._of("queue")
        if not isinstance(queue, list) or len(queue) != 3:  # noqa: PLR2004 - the parts of a queue
            shape = 'give ["topic", "broker name", number]'
            raise LineError("queue", f"{_shown(queue)} is no queue", shape)
        topic, broker_name, queue_id = queue
        return MessageQueue(
            self._text("queue", topic),
            self._text("queue", broker_name),
            self._integer("queue", queue_id, 0),
        )

    def epoch(self) -> Epoch:
        """Return the epoch.

        Raises:
            LineError: it is missing, or not [generation, number].
        """
        epoch = self._of("epoch")
        if not isinstance(epoch, list) or len(epoch) != 2:  # noqa: PLR2004 - the parts of an epoch
            raise LineError("epoch", f"{_shown(epoch)} is no epoch", "give [generation, number]")
        generation, number = (self._integer("epoch", each, 0) for each in epoch)
        return Epoch(generation, number)

    def _of(self, name: str) -> Any:
        if name not in self._fields:
            raise LineError(name, "it is missing", "every line of this kind needs it")
        return self._fields[name]

    @staticmethod
    def _integer(name: str, value: Any, least: int) -> int:
        if type(value) is not int or not least <= value <= _INTEGER_MAX:
            shape = f"give a whole number from {least} to {_INTEGER_MAX}"
            raise LineError(name, f"{_shown(value)} is not allowed", shape)
        return value

    @staticmethod
    def _text(name: str, value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise LineError(name, f"{_shown(value)} is no text", "give a text that is not empty")
        return value


def fields_of(line: bytes) -> LineFields:
    """Return the fields of a line.

    Raises:
        LineError: it is too long, or no JSON object.
    """
    if len(line) > LINE_BYTES_MAX:
        raise LineError("", f"it has {len(line):,} bytes", f"{LINE_BYTES_MAX:,} at most")
    try:
        fields = orjson.loads(line)
    except ValueError as error:
        raise LineError("", f"it is no JSON ({error})", "give one JSON object on a line") from error
    if not isinstance(fields, dict):
        raise LineError("", f"{_shown(fields)} is no object", "give one JSON object on a line")
    return LineFields(fields)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - enough to know it by
