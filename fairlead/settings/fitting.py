"""Words about a wrong value: the type and bounds that fit, with an example."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fairlead.settings.known_keys import ANY_GROUP, KnownKey, known_keys
from fairlead.settings.toml_text import toml_table, toml_value

__all__ = ["fitting_words", "given_words"]

_NUMBER: Final = re.compile(r"-?\d")
_LOGIN: Final = re.compile(r"[^\s,/@\"']*@")
"""A login in an address stands before an at sign."""

_NOUNS: Final = ("text", "path", "list", "table")
_NO_EXAMPLES: Final[tuple[Any, ...]] = (None, "", [], {})


def fitting_words(path: Sequence[str], defaults: Mapping[str, Any]) -> str:
    """Return what to give for a setting, or for one of its parts.

    Args:
        path: the names of the key; within a free table, followed by the names inside it.
        defaults: the tables of conf/default.toml.
    """
    known = _known(path)
    if known is None:
        return f"give a table: {toml_table(tuple(path))} with keys below it"
    if len(path) > len(known.key):
        return "give a text, a number, true or false"
    kind = known.kind
    if _NUMBER.match(kind):
        kind = f"a whole number{f' of {known.unit}' if known.unit else ''}, {kind}"
    elif kind.startswith(_NOUNS):
        kind = f"a {kind}"
    example = _default(known.key, defaults) if known.example is None else known.example
    no_example = isinstance(example, bool) or example in _NO_EXAMPLES
    if known.secret or no_example or kind.startswith('"') or "such as" in kind:
        return f"give {kind}"
    return f"give {kind}, such as {toml_value(example)}"


def given_words(path: Sequence[str], value: Any) -> str:
    """Return a value as a message may show it: no secret, no login, and only the kind of a table.

    A table may hold a secret anywhere, so a message never shows one.
    """
    if any(known.secret and known.key[: len(path)] == tuple(path) for known in known_keys()):
        return "the value"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    try:
        return _LOGIN.sub("********@", toml_value(value))
    except TypeError:
        return str(value)


def _known(path: Sequence[str]) -> KnownKey | None:
    """Return the setting that has this path or contains it; None: it is a table of settings."""
    plain = tuple(
        ANY_GROUP if index == 1 and path[0] == "group" else name for index, name in enumerate(path)
    )
    return next((known for known in known_keys() if plain[: len(known.key)] == known.key), None)


def _default(key: Sequence[str], defaults: Mapping[str, Any]) -> Any:
    node: Any = defaults
    for name in key:
        node = node.get(name) if isinstance(node, Mapping) else None
    return node
