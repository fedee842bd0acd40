"""A group's committed offset in Kafka as a position: the offset, and the reset in its metadata.

Fairlead's clients commit ``{"v": 1, "reset": N, "identity": …}`` as the metadata of each offset: a
commit made after an operator's reset outranks one made before it, and one made for a former life of
a topic is none in the present (rule H28).
"""

from typing import Any, NamedTuple

import orjson

from fairlead.core.model import Position

__all__ = ["Committed", "read_committed"]

_VERSION = 1


class Committed(NamedTuple):
    """What Kafka holds for a group and a partition; offset −1: nothing was committed."""

    offset: int
    metadata: str


def read_committed(committed: Committed, identity: str) -> Position | None:
    """Return the position in the life of the topic that has this identity.

    None: nothing was committed there. Kafka forgets a deleted topic's commits, but a client that
    still reads the former life commits on under the name, and so into the new one.

    Metadata of anybody else (another client, a tool that moved the offset) means reset 0, and names
    no life: it counts in whatever life there is. Such a position gives way to every reset of an
    operator, so what is misread is read again, not skipped.
    """
    if committed.offset < 0:
        return None
    body = _body(committed.metadata)
    named = body.get("identity")
    if isinstance(named, str) and named != identity:
        return None
    return Position(_reset(body), committed.offset)


def _body(metadata: str) -> dict[str, Any]:
    """Return what a client of Fairlead's wrote; of anybody else's nothing."""
    try:
        body = orjson.loads(metadata)
    except orjson.JSONDecodeError:
        return {}
    return body if isinstance(body, dict) and body.get("v") == _VERSION else {}


def _reset(body: dict[str, Any]) -> int:
    reset = body.get("reset")
    # bool is an int to isinstance; true is no reset.
    return reset if type(reset) is int and reset >= 0 else 0
