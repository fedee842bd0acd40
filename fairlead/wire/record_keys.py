"""Returns the group of a record from its key alone, without reading its value."""

from collections.abc import Callable, Mapping
from typing import Final

import orjson

__all__ = ["group_named"]


def group_named(suffix: str, key: bytes | None) -> str:
    """Return the group that a key names: a group, ``*`` for all groups, or "" for none.

    Args:
        suffix: the topic's name after its prefix.
        key: the record's key.
    """
    reader = _GROUP_OF.get(suffix)
    return "" if reader is None else reader(key)


def _text(key: bytes | None) -> str:
    return "" if key is None else key.decode(errors="replace")


def _first_of_array(key: bytes | None) -> str:
    return _entry_of_array(key, 0)


def _group_of_offsets(key: bytes | None) -> str:
    """Return the last text of ``[topic, group]``, with or without a part, or of a look's key."""
    return _entry_of_array(key, 2) or _entry_of_array(key, 1)


def _entry_of_array(key: bytes | None, index: int) -> str:
    try:
        named = orjson.loads(key or b"")
    except orjson.JSONDecodeError:
        return ""
    entry = named[index] if isinstance(named, list) and len(named) > index else ""
    return entry if isinstance(entry, str) else ""


_GROUP_OF: Final[Mapping[str, Callable[[bytes | None], str]]] = {
    "heartbeats": _text,
    "releases": _text,
    "decisions": _text,
    "control": _first_of_array,
    "assignments": _first_of_array,
    "offsets": _group_of_offsets,
}
