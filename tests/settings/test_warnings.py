"""Settings that are allowed and risky give a warning with their place; defaults give none."""

from pathlib import Path

import pytest

from fairlead.settings import Problem, examine
from fairlead.settings.warnings import settings_warnings


def _doubts(text: str, folder: Path) -> dict[str, Problem]:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    found = examine(files=[path])
    assert found.settings is not None, found.problems
    return {problem.key: problem for problem in settings_warnings(found.settings, found.layers)}


def test_the_defaults_have_no_warning(tmp_path: Path) -> None:
    """The defaults leave nothing to think of."""
    assert _doubts("", tmp_path) == {}


@pytest.mark.parametrize(
    "text, key",
    [
        ('[kafka]\nbootstrap = "kafka-1:9092"', "kafka.security.security_protocol"),
        (
            (
                '[kafka]\nbootstrap = "a:1"\nreplication_factor = 1\n'
                '[kafka.security]\nsecurity_protocol = "SSL"'
            ),
            "kafka.replication_factor",
        ),
        (
            '[kafka.security]\nsecurity_protocol = "SSL"\nssl_check_hostname = false',
            "kafka.security.ssl_check_hostname",
        ),
        ('[engine]\ncheckpoint = "/var/tmp/fairlead"', "engine.checkpoint"),
        ("[engine]\nshuffle_partitions = 8", "engine.shuffle_partitions"),
        ("[topics]\nheartbeats_retention_ms = 600000", "topics.heartbeats_retention_ms"),
        ('[metrics]\nhost = "0.0.0.0"', "metrics.host"),
        ('[serve]\nhost = "0.0.0.0"', "serve.host"),
        ('[serve]\nport = 9464\nurl = ""', "serve.port"),
        ("[serve]\nport = 9470", "serve.url"),
        ('[group.orders]\nmode = "eager"', "group.orders.mode"),
        ('[group."a.b"]\non_mute = "force"', "group.a.b.on_mute"),
        ("[group_defaults]\npause = true", "group_defaults.pause"),
        ('[group.orders]\ndrain_deadline_ms = "never"', "group.orders.drain_deadline_ms"),
        (
            '[engine.spark]\n"spark.hadoop.fs.s3a.secret.key" = "geheim"',
            "engine.spark.spark.hadoop.fs.s3a.secret.key",
        ),
    ],
)
def test_each_warning_has_key_risk_and_remedy(text: str, key: str, tmp_path: Path) -> None:
    """Each has its key, what it risks, and what to do."""
    doubts = _doubts(text, tmp_path)
    assert set(doubts) == {key}
    assert doubts[key].reason
    assert doubts[key].remedy


def test_a_warning_names_where_it_was_set(tmp_path: Path) -> None:
    """The warning names where it was set, and blames no group for what all groups have."""
    doubts = _doubts('[group_defaults]\nmode = "eager"\n[group.a]\nlease_ms = 20000\n', tmp_path)
    assert set(doubts) == {"group_defaults.mode"}
    assert doubts["group_defaults.mode"].place == f"{tmp_path / 'mine.toml'}:2"


def test_a_secret_file_that_others_can_read_is_reported(tmp_path: Path) -> None:
    """A secret's file that others may read, or that is not there, gives a warning."""
    secret = tmp_path / "password"
    text = (
        '[kafka.security]\nsecurity_protocol = "SASL_SSL"\nsasl_mechanism = "PLAIN"\n'
        f'sasl_plain_username = "a"\nsasl_plain_password_file = "{secret}"\n'
    )
    key = "kafka.security.sasl_plain_password_file"
    assert "cannot read" in _doubts(text, tmp_path)[key].reason
    secret.write_text("x", encoding="utf-8")
    secret.chmod(0o644)
    assert f"chmod 0400 {secret}" in _doubts(text, tmp_path)[key].remedy
    secret.chmod(0o400)
    assert _doubts(text, tmp_path) == {}


def test_a_misspelt_variable_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable with one underscore less sets nothing and gives a warning; foreign ones do not."""
    monkeypatch.setenv("FAIRLEAD_KAFKA_BOOTSTRAP", "a:1")
    monkeypatch.setenv("FAIRLEAD_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("FAIRLEAD_PORT", "tcp://10.0.0.1:9464")
    doubts = _doubts("", tmp_path)
    assert set(doubts) == {"FAIRLEAD_KAFKA_BOOTSTRAP"}
    assert "FAIRLEAD__KAFKA__BOOTSTRAP" in doubts["FAIRLEAD_KAFKA_BOOTSTRAP"].remedy


def test_a_secret_in_a_file(tmp_path: Path) -> None:
    """The warning has its line, and never its value."""
    text = '[engine.spark]\n"spark.a" = "b"\n"spark.ssl.keyPassword" = "geheim"'
    (doubt,) = _doubts(text, tmp_path).values()
    assert doubt.line == 3
    assert "geheim" not in str(doubt)
