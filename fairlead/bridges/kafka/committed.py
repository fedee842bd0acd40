"""Reads a group's committed offset in Kafka as a position: offset, and reset from its metadata.

Fairlead's clients commit ``{"v": 1, "reset": N, "identity": …}`` as the metadata of each offset. So
a commit made after an operator's reset outranks one made before it, and a commit for a former
identity of a topic does not count (rule H28).
"""

from typing import Any, NamedTuple

import orjson

from fairlead.core.model import Position

__all__ = ["Committed", "read_committed"]

_VERSION = 1


class Committed(NamedTuple):
    """A group's commit for a partition; offset −1: nothing was committed."""

    offset: int
    metadata: str


def read_committed(committed: Committed, identity: str) -> Position | None:
    """Return the position in the topic with this identity; None if there is no commit for it.

    Kafka forgets the commits of a deleted topic, but a client that still reads the former topic
    goes on committing under the same name.

    Metadata of other writers (another client, a tool that moved the offset) means reset 0 and names
    no identity, so it counts for the current one. Every reset of an operator outranks such a
    position, so a mistake leads to reading again, not to skipping.
    """
    if committed.offset < 0:
        return None
    body = _body(committed.metadata)
    named = body.get("identity")
    if isinstance(named, str) and named != identity:
        return None
    return Position(_reset(body), committed.offset)


def _body(metadata: str) -> dict[str, Any]:
    """Return the metadata of Fairlead's clients; empty for that of other writers."""
    try:
        body = orjson.loads(metadata)
    except orjson.JSONDecodeError:
        return {}
    return body if isinstance(body, dict) and body.get("v") == _VERSION else {}


def _reset(body: dict[str, Any]) -> int:
    reset = body.get("reset")
    # isinstance would accept a bool; true is not a reset.
    return reset if type(reset) is int and reset >= 0 else 0
