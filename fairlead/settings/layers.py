"""The sources of settings: files, the environment and flags, each as one nested table."""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic_settings import EnvSettingsSource

from fairlead.conf_folder import conf_directory, profiles
from fairlead.settings.known_keys import FILE_ONLY, known_keys, sections
from fairlead.settings.problems import Problem, SettingsError
from fairlead.settings.sections import Settings
from fairlead.settings.toml_lines import Key, key_lines

ENVIRONMENT_PREFIX = "FAIRLEAD__"
COMMAND_LINE = "command line"


class Kind(StrEnum):
    """The kind of a layer's source."""

    DEFAULT = "default"
    PROFILE = "profile"
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Layer:
    """One source of settings; a later layer wins over an earlier one.

    Attributes:
        source: the file, "environment" or "command line".
        values: the tables; they may hold a secret.
        kind: of the source.
        lines: the line of each key in the file.
        variables: the environment variable that set each key.
    """

    source: str
    values: Mapping[str, Any] = field(repr=False)
    kind: Kind = Kind.FILE
    lines: Mapping[Key, int] = field(default_factory=dict, repr=False)
    variables: Mapping[Key, str] = field(default_factory=dict)

    def has(self, key: Sequence[str]) -> bool:
        """Tell whether this layer sets the key (the path of its names)."""
        node: Any = self.values
        for name in key:
            if not isinstance(node, Mapping) or name not in node:
                return False
            node = node[name]
        return True

    def problem(self, key: Sequence[str], reason: str, remedy: str) -> Problem:
        """Return a problem with a key that this layer sets, with its place."""
        return Problem(".".join(key), self.source_of(key), reason, remedy, self.line_of(key))

    def source_of(self, key: Sequence[str]) -> str:
        """Return the source of a key in this layer: the file, or the environment variable."""
        inside = (name for path, name in self.variables.items() if path[: len(key)] == tuple(key))
        variable = next(inside, None) or self._nearest(self.variables, key)
        return self.source if variable is None else f"{self.source} {variable}"

    def line_of(self, key: Sequence[str]) -> int | None:
        """Return the line of the key, or of the nearest enclosing table with a line."""
        line: int | None = self._nearest(self.lines, key)
        return line

    @staticmethod
    def _nearest(places: Mapping[Key, Any], key: Sequence[str]) -> Any:
        for length in range(len(key), 0, -1):
            if tuple(key[:length]) in places:
                return places[tuple(key[:length])]
        return None


def profile_layer(profile: str) -> Layer:
    """Read ``conf/<profile>.toml``.

    Raises:
        SettingsError: there is no such profile; the error names the existing ones.
    """
    kind = Kind.DEFAULT if profile == "default" else Kind.PROFILE
    if kind is Kind.PROFILE and profile not in profiles():
        names = ", ".join(profiles())
        problem = Problem("profile", COMMAND_LINE, f"no profile {profile!r}", f"one of: {names}")
        raise SettingsError([problem])
    return file_layer(conf_directory() / f"{profile}.toml", kind)


def file_layer(path: Path, kind: Kind = Kind.FILE) -> Layer:
    """Read a TOML file.

    Raises:
        SettingsError: the file is missing, unreadable or no TOML.
    """
    try:
        text = path.read_text(encoding="utf-8")
        return Layer(str(path), tomllib.loads(text), kind, _Lines(text))
    except OSError as error:
        reason = f"is unreadable: {error.strerror}"
        problem = Problem("config", str(path), reason, "name a TOML file that exists")
    except UnicodeDecodeError as error:
        problem = Problem("config", str(path), "is not UTF-8", f"look at byte {error.start}")
    except tomllib.TOMLDecodeError as error:
        problem = Problem("config", str(path), "is not TOML", f"look here: {error}")
    raise SettingsError([problem])


def environment_layer() -> Layer:
    """Read the variables ``FAIRLEAD__<SECTION>__<KEY>``.

    Raises:
        SettingsError: a variable names a table that only a file can hold, or a list or table is no
            valid JSON.
    """
    variables = dict(_variables())
    problems = [
        Problem(
            ".".join(key),
            f"environment {variable}",
            "the environment cannot set it",
            f"set {'.'.join(key)} in a file and name it with --config",
        )
        for key, variable in variables.items()
        if ".".join(key).startswith(tuple(f"{table}." for table in FILE_ONLY))
        or ".".join(key) in FILE_ONLY
    ]
    if problems:
        raise SettingsError(problems)
    try:
        values = EnvSettingsSource(Settings)()
    except ValueError as error:
        # The library names the section alone.
        raise SettingsError([*_no_json(variables)]) from error
    # The library drops unknown keys; keep them here, so that the check refuses them by name.
    for key in variables:
        _keep(values, key)
    return Layer("environment", values, Kind.ENVIRONMENT, variables=variables)


def override_layer(overrides: Mapping[str, Any]) -> Layer:
    """Turn flags, as dotted keys, into a layer; a flag with the value None is absent."""
    values: dict[str, Any] = {}
    for key, value in overrides.items():
        if value is None:
            continue
        *sections, name = key.split(".")
        node = values
        for section in sections:
            node = node.setdefault(section, {})
        node[name] = value
    return Layer(COMMAND_LINE, values, Kind.FLAG)


def _variables() -> Iterator[tuple[Key, str]]:
    """Yield the key that each Fairlead variable sets, with the variable."""
    for variable in sorted(os.environ):
        if variable.upper().startswith(ENVIRONMENT_PREFIX):
            yield tuple(variable[len(ENVIRONMENT_PREFIX) :].lower().split("__")), variable


def _no_json(variables: Mapping[Key, str]) -> Iterator[Problem]:
    """Yield the variables of lists and tables whose value is no JSON, without the value."""
    tables = {*sections(), *(known.key for known in known_keys() if known.kind == "list of texts")}
    for key, variable in variables.items():
        try:
            json.loads(os.environ[variable] if key in tables else "null")
        except ValueError as error:
            example = '["a", "b"]' if key not in sections() else '{"key": 1}'
            yield Problem(
                ".".join(key),
                f"environment {variable}",
                f"is no JSON: {error}",
                f"in the environment give a list or a table as JSON, such as '{example}'",
            )


def _keep(values: dict[str, Any], key: Key) -> None:
    """Insert the key of a variable at its place, unless it is there."""
    node: Any = values
    for name in key[:-1]:
        node = node.setdefault(name, {})
        if not isinstance(node, MutableMapping):
            return
    node.setdefault(key[-1], None)


class _Lines(Mapping[Key, int]):
    """The lines of a file, found on demand: only a mistake or a table needs them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[Key, int] | None = None

    def _lines(self) -> dict[Key, int]:
        if self._known is None:
            self._known = key_lines(self._text)
        return self._known

    def __getitem__(self, key: Key) -> int:
        return self._lines()[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._lines())

    def __len__(self) -> int:
        return len(self._lines())
