"""The first field in which two values of a record differ."""

from dataclasses import dataclass
from typing import Any

import orjson

__all__ = ["FieldDifference", "first_field"]

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """The first field that differs.

    ``path`` looks as in a reject: ``moves[2].epoch``; empty: the values as a whole differ.
    ``expected`` and ``got`` are JSON, or ``absent``.
    """

    path: str
    expected: str
    got: str


def first_field(expected: bytes | None, got: bytes | None) -> FieldDifference:
    """Return the first difference of two values, field by field if both are JSON."""
    try:
        one, other = orjson.loads(expected or b""), orjson.loads(got or b"")
    except orjson.JSONDecodeError:
        return FieldDifference("", _raw(expected), _raw(got))
    difference = _first("", one, other)
    if difference is None:
        # The same JSON in other bytes: an order of fields, or white space.
        return FieldDifference("", _raw(expected), _raw(got))
    path, first, second = difference
    return FieldDifference(path, _json(first), _json(second))


def _first(path: str, one: Any, other: Any) -> tuple[str, Any, Any] | None:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {**one, **other}:
            place = f"{path}.{name}" if path else str(name)
            difference = _first(place, one.get(name, _ABSENT), other.get(name, _ABSENT))
            if difference is not None:
                return difference
        return None
    if isinstance(one, list) and isinstance(other, list) and _are_lists_of_objects(one, other):
        for index in range(max(len(one), len(other))):
            first = one[index] if index < len(one) else _ABSENT
            second = other[index] if index < len(other) else _ABSENT
            difference = _first(f"{path}[{index}]", first, second)
            if difference is not None:
                return difference
        return None
    return None if one == other and type(one) is type(other) else (path, one, other)


def _are_lists_of_objects(one: list[Any], other: list[Any]) -> bool:
    """Tell whether to compare two lists entry by entry: pairs and queues are shown whole."""
    return any(isinstance(entry, dict) for entry in (*one, *other))


def _json(value: Any) -> str:
    return "absent" if value is _ABSENT else orjson.dumps(value).decode()


def _raw(content: bytes | None) -> str:
    return "absent" if content is None else content.decode(errors="backslashreplace")
