"""conf/ itself: complete, explained, and the only place of the defaults."""

import tomllib
from typing import Any

import pytest

from fairlead.conf_folder import conf_directory
from fairlead.settings import Settings, load_settings
from fairlead.settings.known_keys import known_keys

PROFILES = sorted(path.stem for path in conf_directory().glob("*.toml") if path.stem != "default")


def _keys(table: dict[str, Any], prefix: str = "") -> set[str]:
    """Return the dotted keys of a table."""
    keys: set[str] = set()
    for name, value in table.items():
        keys.add(f"{prefix}{name}")
        if isinstance(value, dict):
            keys |= _keys(value, f"{prefix}{name}.")
    return keys


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((conf_directory() / f"{name}.toml").read_text(encoding="utf-8"))


def test_default_is_complete() -> None:
    """conf/default.toml sets each key that has a value; the rest, but secrets, is a comment."""
    secrets = {known.dotted for known in known_keys() if known.secret}
    settings = load_settings().model_dump(mode="json")
    text = (conf_directory() / "default.toml").read_text(encoding="utf-8")
    unset = _keys(settings) - _keys(_table("default")) - secrets
    assert {key for key in unset if f"# {key.rsplit('.', 1)[1]} = " not in text} == set()


def test_no_other_defaults() -> None:
    """A section without its values is refused: no default hides in the code."""
    for name, field in Settings.model_fields.items():
        assert field.is_required(), name


@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile_loads_and_changes_something(profile: str) -> None:
    """Each profile loads, and changes something."""
    assert load_settings(profile=profile) != load_settings()
