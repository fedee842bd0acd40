"""Answers cases line by line; a bad line is answered too and never stops the run."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import orjson

from fairlead.conformance.answer import BAD_CASE, answer

__all__ = ["AnsweredLine", "answer_lines"]


class AnsweredLine(NamedTuple):
    """One line of output, without its line end, and whether the line it answers was a case."""

    text: bytes
    is_case: bool


def answer_lines(lines: Iterable[bytes]) -> Iterator[AnsweredLine]:
    """Answer each line, in order; empty lines are left out.

    A line that is no JSON object has no id: its answer has its number, counted from 1.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            case = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield _no_case(number, f"no JSON: {error}")
            continue
        if not isinstance(case, dict):
            yield _no_case(number, "a case is a JSON object")
            continue
        answered = answer(case)
        bad = answered.get("error", {}).get("code") == BAD_CASE
        if bad:
            answered = {"id": answered["id"], "line": number, "error": answered["error"]}
        yield AnsweredLine(orjson.dumps(answered), is_case=not bad)


def _no_case(number: int, message: str) -> AnsweredLine:
    error = {"code": BAD_CASE, "message": message}
    return AnsweredLine(orjson.dumps({"id": None, "line": number, "error": error}), is_case=False)
