"""JSON from a user: in a file, on the standard input, or in a flag."""

import sys
from pathlib import Path
from typing import Any

import orjson

from fairlead.errors import UsageError

__all__ = ["read_document", "read_json"]


def read_document(
    path: Path, flag: str, remedy: str = "Give a file with a JSON object; - is standard input."
) -> dict[str, Any]:
    """Read an object from a file, or from the standard input if the path is ``-``.

    Args:
        path: where it is.
        flag: what an error is about.
        remedy: what to do if it is no JSON object.

    Raises:
        UsageError: the file cannot be read, or is no JSON object.
    """
    name = "the standard input" if str(path) == "-" else str(path)
    try:
        text = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{flag}: {path} cannot be read ({error.strerror}).", remedy="Name a file, or -."
        ) from error
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{flag}: {name} is no JSON ({error}).", remedy=remedy) from error
    if not isinstance(document, dict):
        raise UsageError(f"{flag}: {name} is no JSON object.", remedy=remedy)
    return document


def read_json(text: str | bytes, flag: str) -> Any:
    """Read JSON.

    Raises:
        UsageError: it is no JSON.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{flag}: it is no JSON ({error}).", remedy="Quote it as JSON.") from error
