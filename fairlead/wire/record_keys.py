"""Which group a record is of, by its key alone: its value need not be read."""

from collections.abc import Callable, Mapping
from typing import Final

import orjson

__all__ = ["group_named"]


def group_named(suffix: str, key: bytes | None) -> str:
    """Return the group that a key names: a group, ``*`` for all groups, or "" for none.

    Args:
        suffix: what the topic is called behind its prefix.
        key: of one of its records.
    """
    reader = _GROUP_OF.get(suffix)
    return "" if reader is None else reader(key)


def _text(key: bytes | None) -> str:
    return "" if key is None else key.decode(errors="replace")


def _first_of_array(key: bytes | None) -> str:
    return _entry_of_array(key, 0)


def _second_of_array(key: bytes | None) -> str:
    return _entry_of_array(key, 1)


def _entry_of_array(key: bytes | None, index: int) -> str:
    try:
        named = orjson.loads(key or b"")
    except orjson.JSONDecodeError:
        return ""
    found = named[index] if isinstance(named, list) and len(named) > index else ""
    return found if isinstance(found, str) else ""


_GROUP_OF: Final[Mapping[str, Callable[[bytes | None], str]]] = {
    "heartbeats": _text,
    "releases": _text,
    "decisions": _text,
    "control": _first_of_array,
    "assignments": _first_of_array,
    "offsets": _second_of_array,
}
