"""Answers cases line by line; a bad line is answered too and never stops the run.

Whatever JSON can say comes through: half a surrogate pair, which Java knows as a character, and
numbers of any length in an id. Answers are ASCII, so that no character can be lost on the way.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, NamedTuple

from fairlead_client.rocketmq.route_json import load_route_json

from fairlead_proof.conformance.answer import BAD_CASE, answer

__all__ = ["AnsweredLine", "answer_lines"]


class AnsweredLine(NamedTuple):
    """One line of output, without its line end, and whether the line it answers was a case."""

    text: bytes
    is_case: bool


def answer_lines(lines: Iterable[bytes]) -> Iterator[AnsweredLine]:
    """Answer each line, in order.

    A line that is no JSON object, an empty one too, has no id: its answer has its number, counted
    from 1.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            yield _no_case(number, "it is empty")
            continue
        try:
            case = _read(line.decode("utf-8"))
        except ValueError as error:
            yield _no_case(number, f"no JSON: {error}")
            continue
        except RecursionError:
            yield _no_case(number, "no JSON: it is nested too deep")
            continue
        if not isinstance(case, dict):
            yield _no_case(number, "a case is a JSON object")
            continue
        answered = answer(case)
        bad = answered.get("error", {}).get("code") == BAD_CASE
        if bad:
            answered = {"id": None, "line": number, "error": answered["error"]}
        yield AnsweredLine(_written(answered), is_case=not bad)


def _read(text: str) -> Any:
    try:
        return _READER.decode(text)
    except ValueError:
        # A route as RocketMQ writes it has broker ids without quotes, which the client can read.
        if _BARE_NAME.search(text) is None:
            raise
        return load_route_json(text, _READER.decode)


def _no_case(number: int, message: str) -> AnsweredLine:
    error = {"code": BAD_CASE, "message": message}
    return AnsweredLine(_written({"id": None, "line": number, "error": error}), is_case=False)


def _written(answered: dict[str, Any]) -> bytes:
    longs: list[str] = []
    text = _encoded(answered, "", longs)
    if longs:
        # By a mark with which no text of this answer begins.
        mark = next(mark for each in count() if f'"{(mark := f"{each}:")}' not in text)
        text = re.sub(rf'"{mark}(-?[0-9]+)"', r"\1", _encoded(answered, mark, longs))
    return text.encode("ascii")


def _encoded(answered: dict[str, Any], mark: str, longs: list[str]) -> str:
    """Return an answer as JSON, each `_Long` as a text that begins with the mark; collect those."""

    def as_text(value: object) -> str:
        assert isinstance(value, _Long)
        longs.append(value.digits)
        return f"{mark}{value.digits}" if mark else ""

    writer = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=as_text)
    return writer.encode(answered)


@dataclass(frozen=True, slots=True)
class _Long:
    """A whole number of more digits than Python reads: it can only be handed back."""

    digits: str


def _whole(text: str) -> int | _Long:
    return _Long(text) if len(text) > _DIGITS_MAX else int(text)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is no number that can be written back")
    return number


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is no JSON")


_BARE_NAME: Final = re.compile(r"[{,]\s*-?[0-9]+\s*:")
_DIGITS_MAX: Final = 640
"""The least limit that `sys.set_int_max_str_digits` takes: so many digits are always read."""
_READER: Final = json.JSONDecoder(
    parse_int=_whole, parse_float=_finite, parse_constant=_refuse_constant
)
