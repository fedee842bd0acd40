"""A group's committed offset in Kafka as a position: the offset, and the reset in its metadata.

Fairlead's clients commit ``{"v": 1, "reset": N}`` as the metadata of each offset, so that a commit
made after an operator's reset outranks one made before it.
"""

from typing import NamedTuple

import orjson

from fairlead.core.model import Position

__all__ = ["Committed", "read_committed"]

_VERSION = 1


class Committed(NamedTuple):
    """What Kafka holds for a group and a partition; offset −1: nothing was committed."""

    offset: int
    metadata: str


def read_committed(committed: Committed) -> Position | None:
    """Return the position, None when nothing was committed.

    Metadata of anybody else (another client, a tool that moved the offset) means reset 0. Such a
    position gives way to every reset of an operator, so what is misread is read again, not skipped.
    """
    if committed.offset < 0:
        return None
    return Position(_reset(committed.metadata), committed.offset)


def _reset(metadata: str) -> int:
    try:
        body = orjson.loads(metadata)
    except orjson.JSONDecodeError:
        return 0
    if not isinstance(body, dict) or body.get("v") != _VERSION:
        return 0
    reset = body.get("reset")
    # bool is an int to isinstance; true is no reset.
    return reset if type(reset) is int and reset >= 0 else 0
