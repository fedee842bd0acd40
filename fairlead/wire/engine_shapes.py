"""Checks the types of an engine's fields, since somebody else may have written the record.

Readers of decisions and assignments access fields by name, and a field of another type would make
them fail at an unexpected place. These checks refuse it first. Readers deal with missing and
unknown fields themselves.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["check_assignment", "check_decision"]

_Check = Callable[[Any], bool]


def check_decision(body: Any) -> None:
    """Check the fields of a decision record (docs/protocol.md §3.14).

    Raises:
        ValueError: one has another type.
    """
    _check("decision record", body, _DECISION)


def check_assignment(body: Any) -> None:
    """Check the fields of an assignment record (docs/protocol.md §3.12) or a notice (§3.13).

    Raises:
        ValueError: one has another type.
    """
    _check("assignment record", body, _ASSIGNMENT)


def _check(what: str, body: Any, fields: Mapping[str, _Check]) -> None:
    if type(body) is not dict:
        raise ValueError(f"{what}: it is not an object")
    for name, check in fields.items():
        if name in body and not check(body[name]):
            shown = str(body[name])[:100]
            raise ValueError(f"{what}: the field {name!r} has another type: {shown}")


def _is(kind: type) -> _Check:
    return lambda value: type(value) is kind


def _null_or(check: _Check) -> _Check:
    return lambda value: value is None or check(value)


def _each(check: _Check) -> _Check:
    return lambda value: type(value) is list and all(map(check, value))


def _parts(*checks: _Check) -> _Check:
    return lambda value: (
        type(value) is list
        and len(value) == len(checks)
        and all(check(part) for check, part in zip(checks, value, strict=True))
    )


def _named(**fields: _Check) -> _Check:
    return lambda value: (
        type(value) is dict
        and all(check(value[name]) for name, check in fields.items() if name in value)
    )


def _values(check: _Check) -> _Check:
    return lambda value: type(value) is dict and all(map(check, value.values()))


_TEXT: Final = _is(str)
_NUMBER: Final = _is(int)
_PAIR: Final = _parts(_NUMBER, _NUMBER)
_QUEUE: Final = _parts(_TEXT, _TEXT, _NUMBER)
_ENDS: Final = _values(_values(_NUMBER))
_CAUSE: Final = _named(
    kind=_TEXT, client_id=_null_or(_TEXT), at=_null_or(_parts(_TEXT, _NUMBER, _NUMBER))
)
_MOVE: Final = _named(
    queue=_QUEUE,
    stage=_TEXT,
    client_id=_TEXT,
    epoch=_PAIR,
    position=_null_or(_PAIR),
    why=_null_or(_TEXT),
)
_STATE: Final = {"phase": str, "footing": str, "exclusive": bool}
"""The fields of a decision's ``state`` that are no numbers."""
_DECISION: Final[Mapping[str, _Check]] = {
    **dict.fromkeys(("kind", "group", "strategy"), _TEXT),
    **dict.fromkeys(("at_ms", "clock_ms", "part", "parts"), _NUMBER),
    **dict.fromkeys(("epoch", "previous_epoch"), _PAIR),
    **dict.fromkeys(("triggers", "members", "alarms"), _each(_TEXT)),
    "cause": _each(_CAUSE),
    "moves": _each(_MOVE),
    "failures": _each(_named(topic=_TEXT, message=_TEXT)),
    "state": lambda value: (
        type(value) is dict
        and all(type(each) is _STATE.get(name, int) for name, each in value.items())
    ),
    "cut": _named(
        generation=_NUMBER,
        shard=_NUMBER,
        step=_NUMBER,
        positions=_ENDS,
        begin=_ENDS,
        origin=_null_or(_named(generation=_NUMBER, begin=_ENDS)),
    ),
}
_GATE: Final = _named(client_id=_TEXT, incarnation=_TEXT, epoch=_PAIR)
_ASSIGNMENT: Final[Mapping[str, _Check]] = {
    **dict.fromkeys(("kind", "group", "client_id", "incarnation", "code"), _TEXT),
    **dict.fromkeys(("generation", "at_ms"), _NUMBER),
    "epoch": _PAIR,
    "add": _each(
        _named(
            queue=_QUEUE,
            epoch=_PAIR,
            position=_PAIR,
            after=_each(_GATE),
            identity=_null_or(_TEXT),
        )
    ),
    "assigned": _each(_named(queue=_QUEUE, epoch=_PAIR, state=_TEXT)),
}
