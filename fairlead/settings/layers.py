"""Where settings come from: files, the environment and flags, each as one nested table."""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_settings import EnvSettingsSource

import fairlead
from fairlead.settings.problems import Problem, SettingsError
from fairlead.settings.sections import Settings

ENVIRONMENT_PREFIX = "FAIRLEAD__"
COMMAND_LINE = "command line"
_FILE_ONLY = ("group", "engine.spark", "group_defaults.strategy_options")
"""Tables whose keys are free and case-sensitive: the environment cannot spell them."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One source of settings; a later layer wins over an earlier one."""

    source: str
    values: Mapping[str, Any]

    def has(self, key: Sequence[str]) -> bool:
        """Tell whether this layer sets the key (the path of its names)."""
        node: Any = self.values
        for name in key:
            if not isinstance(node, Mapping) or name not in node:
                return False
            node = node[name]
        return True


def conf_directory() -> Path:
    """Return the folder of defaults and profiles: inside a wheel, else beside the package."""
    package = Path(fairlead.__file__).resolve().parent
    inside = package / "conf"
    return inside if inside.is_dir() else package.parent / "conf"


def profile_layer(profile: str) -> Layer:
    """Read ``conf/<profile>.toml``.

    Raises:
        SettingsError: there is no such profile; the error names those that exist.
    """
    path = conf_directory() / f"{profile}.toml"
    present = sorted(file.stem for file in conf_directory().glob("*.toml"))
    if profile not in present:
        names = ", ".join(name for name in present if name != "default")
        problem = Problem("profile", COMMAND_LINE, f"no profile {profile!r}", f"one of: {names}")
        raise SettingsError([problem])
    return file_layer(path)


def file_layer(path: Path) -> Layer:
    """Read a TOML file.

    Raises:
        SettingsError: the file is missing, unreadable or no TOML.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        problem = Problem("config", str(path), reason, "name a TOML file that exists")
    except UnicodeDecodeError as error:
        problem = Problem("config", str(path), "is not UTF-8", f"look at byte {error.start}")
    except tomllib.TOMLDecodeError as error:
        problem = Problem("config", str(path), "is not TOML", f"look here: {error}")
    else:
        return Layer(str(path), values)
    raise SettingsError([problem])


def environment_layer() -> Layer:
    """Read the variables ``FAIRLEAD__<SECTION>__<KEY>``.

    Raises:
        SettingsError: a variable names a table that only a file can hold, or is no valid JSON where
            a list or table is wanted.
    """
    problems = [
        Problem(
            key,
            f"environment {variable}",
            "cannot be set in the environment",
            f"set {key} in a file and name it with --config",
        )
        for variable, key in _variables()
        if key.startswith(tuple(f"{table}." for table in _FILE_ONLY)) or key in _FILE_ONLY
    ]
    if problems:
        raise SettingsError(problems)
    try:
        values = EnvSettingsSource(Settings)()
    except ValueError as error:
        problem = Problem(
            "environment", "environment", str(error), "give a list or a table as JSON"
        )
        raise SettingsError([problem]) from error
    # The library leaves out sections it does not know; they are kept here, to be refused by name.
    for _, key in _variables():
        values.setdefault(key.split(".")[0], {})
    return Layer("environment", values)


def override_layer(overrides: Mapping[str, Any]) -> Layer:
    """Turn flags, given as dotted keys, into a layer; a flag that is None was not given."""
    values: dict[str, Any] = {}
    for key, value in overrides.items():
        if value is None:
            continue
        *sections, name = key.split(".")
        node = values
        for section in sections:
            node = node.setdefault(section, {})
        node[name] = value
    return Layer(COMMAND_LINE, values)


def _variables() -> Iterator[tuple[str, str]]:
    """Yield each variable of ours with the dotted key that it sets."""
    for variable in sorted(os.environ):
        if variable.upper().startswith(ENVIRONMENT_PREFIX):
            key = variable[len(ENVIRONMENT_PREFIX) :].lower().replace("__", ".")
            yield variable, key
