"""Which source of a setting wins."""

from pathlib import Path

import pytest
from fairlead_client import Consumer

from fairlead.settings import load_settings


def _file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_defaults_are_in_force_by_themselves() -> None:
    """Without anything of the user's, conf/default.toml is in force."""
    settings = load_settings()
    assert settings.kafka.bootstrap_servers == ["localhost:9092"]
    assert settings.kafka.topic_prefix == "fairlead."
    assert settings.group_defaults.lease_ms == 15_000
    assert settings.group_defaults.trigger_ms == 20_000
    assert settings.client.heartbeat_ms == 3_000


def test_the_rocketmq_profile_has_its_times() -> None:
    """The rocketmq profile has RocketMQ's heartbeat, expiry and trigger; a client can take them."""
    settings = load_settings(profile="rocketmq")
    rules = settings.group_defaults
    beats, lease = settings.client.heartbeat_ms, rules.lease_ms
    assert (beats, lease) == (30_000, 117_000)
    Consumer(bootstrap="a:1", group="g", topics=["t"], heartbeat_ms=beats, lease_ms=lease)
    assert lease + rules.margin_ms == 120_000
    assert rules.trigger_ms == 20_000


def test_a_profile_wins_over_the_defaults() -> None:
    """A profile changes what it names and leaves the rest."""
    assert load_settings(profile="rocketmq").metrics == load_settings().metrics


def test_a_file_wins_over_a_profile(tmp_path: Path) -> None:
    """A file wins over a profile, and a later file over an earlier one."""
    first = _file(
        tmp_path, "first.toml", "[group_defaults]\nlease_ms = 200000\ntrigger_ms = 5000\n"
    )
    second = _file(tmp_path, "second.toml", "[group_defaults]\nlease_ms = 300000\n")
    rules = load_settings(profile="rocketmq", files=[first, second]).group_defaults
    assert (rules.lease_ms, rules.trigger_ms, rules.margin_ms) == (300_000, 5_000, 3_000)


def test_the_environment_wins_over_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment wins over a file."""
    path = _file(tmp_path, "mine.toml", '[kafka]\nbootstrap = "file:1"\ntopic_prefix = "file."\n')
    monkeypatch.setenv("FAIRLEAD__KAFKA__BOOTSTRAP", "environment:1")
    kafka = load_settings(files=[path]).kafka
    assert (kafka.bootstrap, kafka.topic_prefix) == ("environment:1", "file.")


def test_a_flag_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flag wins over the environment."""
    monkeypatch.setenv("FAIRLEAD__KAFKA__BOOTSTRAP", "environment:1")
    settings = load_settings(overrides={"kafka.bootstrap": "flag:1,flag:2"})
    assert settings.kafka.bootstrap_servers == ["flag:1", "flag:2"]


def test_an_absent_flag_changes_nothing() -> None:
    """A flag that was not given changes nothing."""
    assert load_settings(overrides={"kafka.bootstrap": None}) == load_settings()


def test_text_of_the_environment_becomes_the_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment's text becomes the type of the setting, however deep it stands."""
    monkeypatch.setenv("FAIRLEAD__ENGINE__TICK_MS", "500")
    monkeypatch.setenv("FAIRLEAD__KAFKA__SECURITY__SSL_CHECK_HOSTNAME", "false")
    monkeypatch.setenv("FAIRLEAD__GROUP_DEFAULTS__DRAIN_DEADLINE_MS", "never")
    settings = load_settings()
    assert settings.engine.tick_ms == 500
    assert settings.kafka.security.ssl_check_hostname is False
    assert settings.group_defaults.drain_deadline_ms == "never"


def test_a_list_in_the_environment_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list is JSON in the environment, as docs/configuration.md says."""
    monkeypatch.setenv("FAIRLEAD__SERVE__QUEUE_SERIES", '["orders", "payments"]')
    assert load_settings().serve.queue_series == ("orders", "payments")


def test_group_of_its_own(tmp_path: Path) -> None:
    """A group has its own rules where a file says so, and the defaults elsewhere."""
    text = '[group.orders]\nlease_ms = 60000\n[group."%RETRY%a.b"]\ndrain_deadline_ms = "never"\n'
    settings = load_settings(files=[_file(tmp_path, "groups.toml", text)])
    assert settings.rules("orders").lease_ms == 60_000
    assert settings.rules("orders").margin_ms == settings.group_defaults.margin_ms
    assert settings.rules("%RETRY%a.b").drain_deadline_ms == "never"
    assert settings.rules("payments") == settings.group_defaults


def test_settings_of_spark_pass_through(tmp_path: Path) -> None:
    """Spark's own settings pass through with their dotted names."""
    path = _file(tmp_path, "spark.toml", '[engine.spark]\n"spark.memory.fraction" = 0.5\n')
    assert load_settings(files=[path]).engine.spark == {"spark.memory.fraction": 0.5}


def test_the_password_comes_from_its_file(tmp_path: Path) -> None:
    """The password comes from its file, without the line end, and is not printed."""
    path = _file(tmp_path, "password", "s3cret \n")
    settings = load_settings(
        overrides={
            "kafka.security.security_protocol": "SASL_SSL",
            "kafka.security.sasl_mechanism": "PLAIN",
            "kafka.security.sasl_plain_username": "fairlead",
            "kafka.security.sasl_plain_password_file": str(path),
        }
    )
    password = settings.kafka.security.password()
    assert password is not None
    assert password.get_secret_value() == "s3cret "
    assert "s3cret" not in repr(password) + repr(settings)


def test_without_a_password_file_there_is_no_password() -> None:
    """Without a password file there is no password."""
    assert load_settings().kafka.security.password() is None
