"""Suggests the known key that an unknown key most likely means."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from fairlead.settings.known_keys import ANY_GROUP, known_keys, sections
from fairlead.settings.toml_lines import Key

__all__ = ["nearest_key", "suggestion_for"]

_LIKE_MIN: Final = 0.6
"""Names less alike than this are not suggested."""
_PART: Final = 0.8
_SAME_TABLE: Final = 0.25
_SAME_SECTION: Final = 0.1
_RULES: Final = "group_defaults"
_OF_RULES: Final = 0.02


def suggestion_for(path: Sequence[str], value: Any) -> str:
    """Return what to write instead of an unknown key: the nearest known key, or all of them."""
    nearest = nearest_key(path, value)
    if nearest is not None:
        return f"the nearest known key is {nearest}"
    *tables, _ = path
    known = _keys_of(_plain(tables))
    if not tables or not known:
        return f"the tables are {', '.join('.'.join(key) for key in sections())}"
    return f"nothing is like it; [{'.'.join(tables)}] knows {', '.join(known)}"


def nearest_key(path: Sequence[str], value: Any) -> str | None:
    """Return the dotted known key that is most like one that is not known.

    Args:
        path: the names of the unknown key.
        value: its value: a table can only mean a table.

    Returns:
        The key; None: no known key is like it.
    """
    is_table = isinstance(value, Mapping)
    scored = [
        (score, known)
        for known in (_tables() if is_table else _leaves())
        if (score := _score(path, known, value)) is not None
    ]
    if not scored:
        return None
    _, best = max(scored, key=lambda one: one[0])
    group = path[1] if len(path) > 1 else ANY_GROUP
    return ".".join(group if name == ANY_GROUP else name for name in best)


def _score(path: Sequence[str], known: Key, value: Any) -> float | None:
    """Return how likely the path means a known key; None: it does not."""
    *tables, name = path
    like = _likeness(name, known[-1])
    if isinstance(value, Mapping) and value:
        inside = _keys_of(known)
        like = max(like, sum(each in inside for each in value) / len(value))
    if like < _LIKE_MIN:
        return None
    if not tables and known[0] == _RULES:
        # A rule that stands in no table: most operators mean the rule of all groups.
        like += _OF_RULES
    like += 0.01 * difflib.SequenceMatcher(None, path[0], known[0]).ratio()
    if _plain(tables) == known[:-1]:
        return like + _SAME_TABLE
    if path[0] == known[0]:
        return like + _SAME_SECTION
    return like


def _likeness(name: str, known: str) -> float:
    """Return 0 to 1: 1 for the same name; high if one name has all words of the other."""
    name = name.lower().replace("-", "_").replace(".", "_")
    ratio = difflib.SequenceMatcher(None, name, known).ratio()
    words, known_words = {*name.split("_")}, {*known.split("_")}
    part = words <= known_words or known_words <= words
    return _PART + (1 - _PART) * ratio if part else ratio


def _plain(tables: Sequence[str]) -> Key:
    """Return the path of a table, with the placeholder for the name of a group."""
    return tuple(
        ANY_GROUP if index == 1 and tables[0] == "group" else name
        for index, name in enumerate(tables)
    )


def _leaves() -> Iterator[Key]:
    return (known.key for known in known_keys())


def _tables() -> Iterator[Key]:
    yield from sections()
    yield from (("group",), ("engine", "spark"))


def _keys_of(table: Key) -> list[str]:
    """Return the names of settings and tables in a table."""
    paths = [*_leaves(), *sections()]
    return sorted({path[-1] for path in paths if path[:-1] == table})
