"""The settings in force as rows: each value and its source. Secrets are stars."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, SecretStr

from fairlead.settings.known_keys import ANY_GROUP, KnownKey, known_keys
from fairlead.settings.layers import Kind, Layer
from fairlead.settings.loading import winner
from fairlead.settings.sections import Settings
from fairlead.settings.toml_lines import Key
from fairlead.settings.toml_text import toml_key, toml_table, toml_value

__all__ = ["SECRET_NAME", "STARS", "ShownSetting", "shown_settings", "toml_document"]

STARS: Final = "********"
SECRET_NAME: Final = re.compile(r"(?i)secret|password|passphrase|token|credential|access[.]?key")
"""Names of Spark's settings and strategies' options that ``config show`` shows as stars."""


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """One setting in force.

    Attributes:
        key: its names.
        value: as JSON and TOML have it; None: it is not set.
        hidden: whether the value, or a part of it, is stars.
        unit: of its number, if it has one.
        kind: of its source; None: it is not set.
        place: its source: the file with its line, the variable, or the command line.
    """

    key: Key
    value: Any
    hidden: bool
    unit: str | None
    kind: Kind | None
    place: str

    @property
    def name(self) -> str:
        """The key as TOML writes it: the name of a group in quotes where it needs them."""
        return ".".join(toml_key(name) for name in self.key)

    def to_json(self) -> dict[str, Any]:
        """Return the setting as JSON."""
        kind = None if self.kind is None else self.kind.value
        return {
            "setting": self.name,
            "value": self.value,
            "unit": self.unit,
            "origin": kind,
            "place": self.place,
        }


def shown_settings(settings: Settings, layers: Sequence[Layer]) -> list[ShownSetting]:
    """Return every setting, in the order of the models, then those of each named group."""
    return list(_shown(settings, layers))


def toml_document(rows: Sequence[ShownSetting]) -> str:
    """Return settings as TOML that Fairlead can read back; hidden values become comments."""
    lines: list[str] = []
    table: Key | None = None
    for row in rows:
        if row.value is None:
            continue
        if row.key[:-1] != table:
            table = row.key[:-1]
            lines += [*([""] if lines else []), toml_table(table)]
        name, source = toml_key(row.key[-1]), "" if row.kind is Kind.DEFAULT else f"  # {row.place}"
        if row.hidden:
            lines.append(f"# {name} = {toml_value(row.value)}")
        if isinstance(row.value, Mapping):
            plain = {inner: value for inner, value in row.value.items() if value != STARS}
            lines.append(f"{name} = {toml_value(plain)}{source}")
        elif not row.hidden:
            lines.append(f"{name} = {toml_value(row.value)}{source}")
    return "".join(f"{line}\n" for line in lines)


def _shown(settings: Settings, layers: Sequence[Layer]) -> Iterator[ShownSetting]:
    general = [known for known in known_keys() if ANY_GROUP not in known.key]
    for known in general:
        yield _one(known, known.key, settings, layers)
    for group in sorted(settings.group):
        for known in known_keys():
            if known.key[:2] != ("group", ANY_GROUP):
                continue
            shown = _one(known, ("group", group, *known.key[2:]), settings, layers)
            if shown.value is not None:
                yield shown


def _one(known: KnownKey, key: Key, settings: Settings, layers: Sequence[Layer]) -> ShownSetting:
    found = _value(settings, key)
    if found is None:
        return ShownSetting(key, None, hidden=False, unit=known.unit, kind=None, place="not set")
    value, hidden = _masked(found)
    layer = winner(layers, key)
    return ShownSetting(key, value, hidden, known.unit, layer.kind, _place(layer, key))


def _place(layer: Layer, key: Key) -> str:
    match layer.kind:
        case Kind.DEFAULT:
            return "default"
        case Kind.PROFILE:
            return f"profile {Path(layer.source).stem}"
        case Kind.FILE:
            line = layer.line_of(key)
            return layer.source if line is None else f"{layer.source}:{line}"
        case _:
            return layer.source_of(key)


def _value(settings: Settings, key: Key) -> Any:
    node: Any = settings
    for name in key:
        node = getattr(node, name) if isinstance(node, BaseModel) else node.get(name)
        if node is None:
            return None
    return node


def _masked(value: Any) -> tuple[Any, bool]:
    """Return a value as JSON has it, and whether anything in it is hidden."""
    match value:
        case SecretStr():
            return STARS, True
        case Path():
            return str(value), False
        case tuple():
            return list(value), False
        case Mapping():
            masked = {
                name: STARS if SECRET_NAME.search(name) else _masked(each)[0]
                for name, each in value.items()
            }
            return masked, masked != dict(value)
    return value, False
