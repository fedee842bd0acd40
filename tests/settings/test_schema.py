"""The JSON Schema of a settings file knows what the loader knows."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fairlead.conf_folder import conf_directory
from fairlead.settings import SettingsError, load_settings
from fairlead.settings.known_keys import known_keys
from fairlead.settings.schema import file_schema

SCHEMA = file_schema()


def _errors(text: str) -> list[str]:
    found = Draft202012Validator(SCHEMA).iter_errors(tomllib.loads(text))
    return [error.message for error in found]


def test_the_schema_is_valid() -> None:
    """It is JSON Schema 2020-12."""
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize(
    "path", sorted(conf_directory().glob("*.toml")), ids=lambda path: path.stem
)
def test_the_defaults_and_profiles_fit_the_schema(path: Path) -> None:
    """The defaults and every profile fit; a file may leave out anything."""
    assert _errors(path.read_text(encoding="utf-8")) == []
    assert _errors("") == []


@pytest.mark.parametrize(
    "text",
    [
        '[kafka]\nbootstrp = "a:1"',
        '[kafka]\nbootstrap = "a b"',
        '[kafka.security]\nsasl_plain_password = "x"',
        "[engine]\ntick_ms = 1",
        "[group.orders]\nlease_ms = 5",
        '[group."a b"]\nlease_ms = 20000',
        '[group_defaults]\ndrain_deadline_ms = "sometimes"',
        '[engine]\njava_heap = "much"',
        "[grop]",
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(text: str, tmp_path: Path) -> None:
    """What the loader refuses for itself, an editor marks."""
    assert _errors(text)
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError):
        load_settings(files=[path])


def test_each_key_of_the_schema_has_meaning_and_default() -> None:
    """An editor finds each key with its meaning, and with its default where it has one."""
    defaults = tomllib.loads((conf_directory() / "default.toml").read_text(encoding="utf-8"))
    for known in known_keys():
        if known.secret or known.key[0] == "group":
            continue
        table: Any = SCHEMA
        value: Any = defaults
        for name in known.key[:-1]:
            table = SCHEMA["$defs"][table["properties"][name]["$ref"].rpartition("/")[2]]
            value = value[name]
        setting = table["properties"][known.key[-1]]
        assert setting["description"] == known.meaning, known.dotted
        assert setting.get("default") == value.get(known.key[-1]), known.dotted
