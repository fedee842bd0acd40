"""JSON from a user: in a file, on the standard input, or in a flag."""

import sys
from pathlib import Path
from typing import Any

import orjson

from fairlead.errors import UsageError

__all__ = ["read_document", "read_json"]


def read_document(path: Path, flag: str) -> dict[str, Any]:
    """Read an object from a file, or from the standard input if the path is ``-``.

    Raises:
        UsageError: the file cannot be read, or is no JSON object.
    """
    try:
        text = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{flag}: {path} cannot be read ({error.strerror}).", remedy="Name a file, or -."
        ) from error
    document = read_json(text, flag)
    if not isinstance(document, dict):
        raise UsageError(f"{flag}: it is no JSON object.", remedy="Begin with {.")
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
