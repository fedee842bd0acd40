"""Writes conf/default.toml: keeps its values, and takes the comments from the models."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

from fairlead.settings.known_keys import ANY_GROUP, KnownKey, known_keys, sections
from fairlead.settings.toml_lines import Key
from fairlead.settings.toml_text import toml_key, toml_table, toml_value

__all__ = ["default_file"]

_WIDTH: Final = 100
_HEAD: Final = """\
# The defaults of every setting. Change them in a file of your own (fairlead … --config my.toml), in
# the environment (FAIRLEAD__KAFKA__BOOTSTRAP=host:9092) or by flags; each wins over the one before.
# Durations end in _ms and are milliseconds. Secrets do not belong here: name the file that holds
# them. Values are edited here, comments in fairlead/settings; python -m fairlead.settings.pages
# then writes this file and docs/configuration.md again.
"""
_GROUPS: Final = """
[group]
# [group.orders]
# lease_ms = 20000
"""


def default_file(values: Mapping[str, Any]) -> str:
    """Return the text of the file for these values; every key must be known."""
    text = _HEAD
    for table in sections():
        if table == ("group", ANY_GROUP):
            text += _GROUPS + "".join(f"{line}\n" for line in _designated())
        elif ANY_GROUP not in table:
            text += "\n" + "".join(f"{line}\n" for line in _table(table, values))
    return text


def _table(table: Key, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of one table, without the tables inside it."""
    inside: Mapping[str, Any] = values
    for name in table:
        inside = inside[name]
    yield from _comment(sections()[table].partition("\n\n")[0])
    yield toml_table(table)
    tables = []
    for known in known_keys():
        if known.key[:-1] != table or known.secret:
            continue
        if known.key == ("engine", "spark"):
            tables.append(known)
            continue
        yield from _comment(_meaning_and_values(known))
        name = known.key[-1]
        if name in inside:
            yield f"{toml_key(name)} = {toml_value(inside[name])}"
        else:
            yield f"# {toml_key(name)} = {toml_value(known.example)}"
    for known in tables:
        yield ""
        yield from _comment(_meaning_and_values(known))
        yield toml_table(known.key)
        for name, value in known.example.items():
            yield f"# {toml_key(name)} = {toml_value(value)}"
        for name, value in inside[known.key[-1]].items():
            yield f"{toml_key(name)} = {toml_value(value)}"


def _designated() -> Iterator[str]:
    """Yield the one rule that only single groups have, as a comment."""
    known = next(known for known in known_keys() if known.key[-1] == "designated")
    yield from _comment(known.meaning)
    yield "# [group.orders.designated]"
    for name, value in known.example.items():
        yield f"# {name} = {toml_value(value)}"


def _meaning_and_values(known: KnownKey) -> str:
    """Return the meaning, and the allowed values if there is a choice."""
    if '"' in known.kind:
        return f"{known.meaning} {known.kind}."
    return known.meaning


def _comment(text: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text.replace("`", ""),
        _WIDTH,
        initial_indent="# ",
        subsequent_indent="# ",
        break_long_words=False,
        break_on_hyphens=False,
    )
