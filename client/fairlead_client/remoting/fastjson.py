"""Reads JSON in the dialect of fastjson, which RocketMQ's servers write.

Java maps come with their keys as they are: numbers without quotes, or whole objects. Standard JSON
is read by the standard library, which is quicker; only what it refuses is read by the rules below.
"""

import json
import re
from typing import Any, Final

__all__ = ["DialectError", "ObjectKey", "read_fastjson"]

ObjectKey = tuple[tuple[str, Any], ...]
"""An object as a key: its fields sorted by name; `dict(key)` makes it an object again."""

_DEPTH_MAX: Final = 64
_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_TOKEN: Final = re.compile(
    r'[ \t\r\n]*+(?:(?P<text>"(?:[^"\\\x00-\x1f]++|\\.)*+")|(?P<sign>[{}\[\]:,])'
    r"|(?P<word>-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null))"
)


class DialectError(ValueError):
    """A text that is no JSON, in the dialect or not."""


def read_fastjson(data: bytes | memoryview) -> Any:
    """Return the value of a document.

    Objects are dicts. A key that is no text is a number, or an `ObjectKey`.

    Raises:
        DialectError: it is no JSON, or nested too deeply.
    """
    try:
        text = str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise DialectError(f"it is no UTF-8 at byte {error.start}") from None
    try:
        value = json.loads(text)
    except ValueError:
        value = _Reader(text).document()
    except RecursionError:
        raise DialectError("it is nested too deeply") from None
    if _HALF.search(text):
        _refuse_halves(value)
    return value


def _refuse_halves(value: Any) -> None:
    """Refuse half a character: nobody could write the text on, to a log or a server."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            try:
                one.encode()
            except UnicodeEncodeError:
                raise DialectError("it has half a character") from None
        elif isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, list | tuple):
            left += one


class _Reader:
    """A reader of recursive descent; it has one token in hand."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._sign, self._value = "", None
        self._next()

    def document(self) -> Any:
        value = self._read(0)
        if self._sign != "end":
            raise self._error()
        return value

    def _next(self) -> None:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            if self._text[self._at :].strip(" \t\r\n"):
                raise self._error()
            self._sign, self._value = "end", None
            return
        self._at = match.end()
        self._sign = match["sign"] or "value"
        try:
            self._value = json.loads(match["text"] or match["word"]) if not match["sign"] else None
        except ValueError:
            raise self._error() from None

    def _error(self) -> DialectError:
        return DialectError(f"it is no JSON at character {self._at}")

    def _read(self, depth: int) -> Any:
        if depth > _DEPTH_MAX:
            raise DialectError("it is nested too deeply")
        match self._sign:
            case "value":
                value = self._value
                self._next()
                return value
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
        raise self._error()

    def _object(self, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        self._next()
        while self._sign != "}":
            key = self._read(depth + 1)
            self._take(":")
            found[_as_key(key)] = self._read(depth + 1)
            self._take_comma("}")
        self._next()
        return found

    def _array(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self._next()
        while self._sign != "]":
            found.append(self._read(depth + 1))
            self._take_comma("]")
        self._next()
        return found

    def _take(self, sign: str) -> None:
        if self._sign != sign:
            raise self._error()
        self._next()

    def _take_comma(self, end: str) -> None:
        if self._sign == ",":
            self._next()
            if self._sign == end:
                raise self._error()
        elif self._sign != end:
            raise self._error()


def _as_key(key: Any) -> Any:
    if isinstance(key, dict):
        return tuple(sorted((str(name), _as_key(value)) for name, value in key.items()))
    if isinstance(key, list):
        return tuple(map(_as_key, key))
    return key
