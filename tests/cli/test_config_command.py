"""``fairlead config``: what is set, from where, and what is wrong with it."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fairlead.cli.main import main
from fairlead.errors import ExitCode
from fairlead.settings import load_settings
from tests.answers.schema import assert_command

CANARY = "hunter2"
TEXT = """\
[kafka]
bootstrap = "kafka-1:9093"

[kafka.security]
security_protocol = "SASL_SSL"
sasl_mechanism = "PLAIN"
sasl_plain_username = "fairlead"

[engine.spark]
"spark.memory.fraction" = 0.5
"spark.hadoop.fs.secret.key" = "hunter2"

[group."%RETRY%a.b"]
drain_deadline_ms = "never"
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a bit of everything, and a password in the environment."""
    monkeypatch.setenv("FAIRLEAD__KAFKA__SECURITY__SASL_PLAIN_PASSWORD", CANARY)
    path = tmp_path / "mine.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def _run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """Run `fairlead config`, and return what it prints; it must end with this code."""
    with pytest.raises(SystemExit) as end:
        main(["config", *arguments])
    written = capsys.readouterr()
    assert end.value.code == code, written.err
    assert CANARY not in written.out + written.err
    return written.out


def _rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    rows = json.loads(_run(capsys, "show", "-o", "json", *arguments))
    assert_command(["config", "show"], rows)
    return {row["setting"]: row for row in rows}


def test_changed_settings_are_shown_with_their_sources(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is not as by default is shown, each with its source; secrets are stars."""
    rows = _rows(capsys, "--config", str(mine), "--profile", "rocketmq", "--topic-prefix", "x.")
    assert {key: (row["origin"], row["place"]) for key, row in rows.items()} == {
        "kafka.bootstrap": ("file", f"{mine}:2"),
        "kafka.topic_prefix": ("flag", "command line"),
        "kafka.security.security_protocol": ("file", f"{mine}:5"),
        "kafka.security.sasl_mechanism": ("file", f"{mine}:6"),
        "kafka.security.sasl_plain_username": ("file", f"{mine}:7"),
        "kafka.security.sasl_plain_password": (
            "environment",
            "environment FAIRLEAD__KAFKA__SECURITY__SASL_PLAIN_PASSWORD",
        ),
        "engine.spark": ("file", f"{mine}:9"),
        "group_defaults.strategy": ("profile", "profile rocketmq"),
        "group_defaults.lease_ms": ("profile", "profile rocketmq"),
        "group_defaults.margin_ms": ("profile", "profile rocketmq"),
        "group_defaults.trigger_ms": ("profile", "profile rocketmq"),
        "client.heartbeat_ms": ("profile", "profile rocketmq"),
        'group."%RETRY%a.b".drain_deadline_ms': ("file", f"{mine}:14"),
    }
    assert rows["group_defaults.lease_ms"]["value"] == 117_000
    assert rows["group_defaults.lease_ms"]["unit"] == "milliseconds"
    assert rows["kafka.security.sasl_plain_password"]["value"] == "********"
    assert rows["engine.spark"]["value"]["spark.memory.fraction"] == 0.5


def test_resolved_settings_are_all_shown(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything in force is shown when it is asked for, what is not set too."""
    rows = _rows(capsys, "--config", str(mine), "--resolved")
    assert rows["engine.tick_ms"]["value"] == 1_000
    assert rows["engine.tick_ms"]["origin"] == "default"
    assert rows["kafka.security.ssl_cafile"]["value"] is None
    section = _rows(capsys, "--config", str(mine), "--resolved", "--section", "kafka.connection")
    assert {key.rpartition(".")[0] for key in section} == {"kafka.connection"}
    group = _rows(capsys, "--config", str(mine), "--section", "group.%RETRY%a.b")
    assert list(group) == ['group."%RETRY%a.b".drain_deadline_ms']


def test_an_unknown_table_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown table is refused with the nearest."""
    with pytest.raises(SystemExit) as end:
        main(["config", "show", "--section", "kafka.securty"])
    assert end.value.code == ExitCode.USAGE
    assert "the nearest known key is kafka.security" in capsys.readouterr().err


@pytest.mark.parametrize("resolved", [[], ["--resolved"]])
def test_toml_can_be_read_back(
    mine: Path, resolved: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As TOML it can be read back, and is the same but for what no file may hold."""
    text = _run(capsys, "show", "--config", str(mine), *resolved, "-o", "toml")
    again = tmp_path / "again.toml"
    again.write_text(text, encoding="utf-8")
    before, after = load_settings(files=[mine]), load_settings(files=[again])
    assert after.kafka == before.kafka
    assert after.group == before.group
    assert after.engine.spark == {"spark.memory.fraction": 0.5}
    assert after.model_copy(update={"engine": before.engine}) == before
    assert '# sasl_plain_password = "********"' in text


def test_a_table_has_the_values_as_files_have_them(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table has the values as files have them; with nothing set it says so."""
    text = _run(capsys, "show", "--config", str(mine))
    assert '"kafka-1:9093"' in text
    assert f"{mine}:2" in text


def test_with_nothing_set_no_row_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Without anything of the user's no row is shown."""
    assert _run(capsys, "show", "-o", "json") == "[]\n"


def test_every_mistake_is_named_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command names all mistakes, each with file, line, key, reason and remedy, and exits 2."""
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    first.write_text('[kafka]\nbootstrp = "a:1"\n', encoding="utf-8")
    second.write_text("[engine]\n\ntick_ms = 1\n", encoding="utf-8")
    files = (str(first), str(second), str(tmp_path / "none.toml"))
    text = _run(capsys, "check", *files, code=ExitCode.USAGE)
    for line in (
        (
            f"{first}:2: error: kafka.bootstrp: unknown key\n"
            "    the nearest known key is kafka.bootstrap\n"
        ),
        f"{second}:3: error: engine.tick_ms: 1 does not fit\n",
        f"{tmp_path / 'none.toml'}: error: config: is unreadable: No such file or directory\n",
    ):
        assert line in text
    rows = json.loads(_run(capsys, "check", *files, "-o", "json", code=ExitCode.USAGE))
    assert_command(["config", "check"], rows)
    assert [(row["source"], row["line"]) for row in rows] == [
        (files[2], None),
        (files[0], 2),
        (files[1], 3),
    ]
    assert {row["severity"] for row in rows} == {"error"}


def test_a_rule_that_the_engine_would_refuse_is_refused_at_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rule that the engine would refuse at its start is refused here, at its line."""
    path = tmp_path / "mine.toml"
    path.write_text('[group.orders]\nmode = "eager"\nstrategy = "STICKI"\n', encoding="utf-8")
    text = _run(capsys, "check", str(path), code=ExitCode.USAGE)
    assert f"{path}:3: error: group.orders.strategy" in text


def test_a_risky_setting_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is allowed and risky is a warning: the settings can be used, and the code is 0."""
    path = tmp_path / "mine.toml"
    path.write_text('[group.orders]\nmode = "eager"\n', encoding="utf-8")
    text = _run(capsys, "check", str(path))
    assert f"{path}:2: warning: group.orders.mode: a queue may have two owners" in text
    assert text.endswith("OK, 1 warning\n")
    assert _run(capsys, "check") == "OK\n"


def test_the_schema_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The schema is printed as JSON, and a file can be checked with it."""
    schema = json.loads(_run(capsys, "schema"))
    assert not list(Draft202012Validator(schema).iter_errors(tomllib.loads(TEXT)))
    assert list(Draft202012Validator(schema).iter_errors({"kafka": {"bootstrp": "a:1"}}))


def test_the_settings_of_each_library_are_shown_without_secrets(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command shows what each library gets, without secrets."""
    rows = json.loads(_run(capsys, "kafka", "--config", str(mine), "-o", "json"))
    assert_command(["config", "kafka"], rows)
    told = {(row["library"], row["option"]): row["value"] for row in rows}
    assert told["kafka-python", "sasl_plain_password"] == "********"
    assert told["Spark", "kafka.sasl.jaas.config"] == "********"
    assert told["Spark", "kafka.bootstrap.servers"] == "kafka-1:9093"
