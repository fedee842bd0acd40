"""A secret stands in a file of its own or in the environment, and is shown nowhere."""

import json
from pathlib import Path

import pytest

from fairlead.kafka.connection import library_options
from fairlead.settings import SettingsError, examine, load_settings
from fairlead.settings.layers import environment_layer

CANARY = "hunter2"
VARIABLE = "FAIRLEAD__KAFKA__SECURITY__SASL_PLAIN_PASSWORD"
LOGIN = {
    "kafka.security.security_protocol": "SASL_SSL",
    "kafka.security.sasl_mechanism": "PLAIN",
    "kafka.security.sasl_plain_username": "fairlead",
}


def test_a_password_of_the_environment_is_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A password in the environment logs in, and nothing that holds it shows it."""
    monkeypatch.setenv(VARIABLE, CANARY)
    settings = load_settings(overrides=LOGIN)
    options = library_options(settings.kafka)
    assert options["sasl_plain_password"] == CANARY
    found = examine(overrides=LOGIN)
    shown = f"{settings!r}{settings.model_dump_json()}{options}{found!r}{environment_layer()!r}"
    assert CANARY not in shown


@pytest.mark.parametrize("name", ["sasl_plain_password", "ssl_key_password"])
def test_refused_in_a_file(name: str, tmp_path: Path) -> None:
    """In a settings file, or as a flag, it is refused with the two places where it may stand."""
    path = tmp_path / "mine.toml"
    path.write_text(f'[kafka.security]\n{name} = "{CANARY}"\n', encoding="utf-8")
    for arguments in ({"files": [path]}, {"overrides": {f"kafka.security.{name}": CANARY}}):
        with pytest.raises(SettingsError) as error:
            load_settings(**arguments)
        (problem,) = error.value.problems
        assert problem.key == f"kafka.security.{name}"
        assert f"kafka.security.{name}_file" in problem.remedy
        assert f"FAIRLEAD__KAFKA__SECURITY__{name.upper()}" in problem.remedy
        assert CANARY not in str(error.value) + "".join(error.value.lines())


@pytest.mark.parametrize(
    "text",
    [
        f"[[kafka.security]]\nsasl_plain_password = '{CANARY}'",
        f"[kafka]\nsecurity = 'PLAIN:{CANARY}'",
        f"kafka = 'PLAIN:{CANARY}'",
        f"[kafka.security]\nsasl_plain_password = ['{CANARY}']",
        f"[kafka.security]\nsasl_plain_password = {{ is = '{CANARY}' }}",
        f"[kafka.security]\npassword = '{CANARY}'",
    ],
)
def test_mistakes_show_nothing(text: str, tmp_path: Path) -> None:
    """The error for a mistake around a secret does not show the secret."""
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as error:
        load_settings(files=[path])
    assert CANARY not in str(error.value) + "".join(error.value.lines())


def test_section_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole section as JSON may hold it, and a mistake beside it does not show it."""
    security = {"sasl_plain_password": CANARY, "security_protocol": "NONE"}
    monkeypatch.setenv("FAIRLEAD__KAFKA__SECURITY", json.dumps(security))
    with pytest.raises(SettingsError) as error:
        load_settings()
    assert [problem.key for problem in error.value.problems] == ["kafka.security.security_protocol"]
    assert CANARY not in str(error.value)


def test_a_secret_given_twice_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A secret in the environment and in a file is refused: which one is meant does not show."""
    monkeypatch.setenv(VARIABLE, CANARY)
    overrides = {**LOGIN, "kafka.security.sasl_plain_password_file": str(tmp_path / "x")}
    with pytest.raises(SettingsError, match="is set too"):
        load_settings(overrides=overrides)


def test_an_empty_secret_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty secret is refused: libraries would log in without one."""
    monkeypatch.setenv(VARIABLE, "")
    with pytest.raises(SettingsError, match="it is empty"):
        load_settings(overrides=LOGIN)
