"""Finds the line of each key in a TOML file, which the standard library's reader does not have."""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Key", "key_lines"]

Key = tuple[str, ...]
"""The names of a dotted key, from the outermost table on."""


def key_lines(text: str) -> dict[Key, int]:
    """Return the first line, from 1 on, of each key and each table of a valid TOML text.

    An inline table has the line of its value.
    """
    lines: dict[Key, int] = {}
    table: Key = ()
    for number, statement in _statements(text):
        document = tomllib.loads(statement)
        if statement.lstrip().startswith("["):
            table = _innermost(document)
            for length in range(1, len(table) + 1):
                lines.setdefault(table[:length], number)
        else:
            for key in _keys(document):
                lines.setdefault((*table, *key), number)
    return lines


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each header and each assignment (one or more lines) with its first line number."""
    begun, statement = 0, ""
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if not statement:
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            begun = number
        statement += line
        try:
            tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        yield begun, statement
        statement = ""


def _innermost(document: Mapping[str, Any]) -> Key:
    """Return the path of the one table that a header names."""
    path: list[str] = []
    node: Any = document
    while isinstance(node, Mapping) and node:
        ((name, node),) = node.items()
        path.append(name)
        if isinstance(node, list):
            break
    return tuple(path)


def _keys(document: Mapping[str, Any], above: Key = ()) -> Iterator[Key]:
    """Yield every path of a document, a table before its content."""
    for name, value in document.items():
        yield (*above, name)
        if isinstance(value, Mapping):
            yield from _keys(value, (*above, name))
