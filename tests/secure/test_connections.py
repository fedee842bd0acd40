"""Connections that brokers do not take: every process, command and client names the cause."""

import contextlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from fairlead_client import BrokerConnectionError, Consumer, StartFailedError
from fairlead_client.transport.connection_fault import first_contact

from fairlead.bridges.control_topics import ControlTopics
from fairlead.doctor import CheckContext, Status, examine_all
from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.connection import library_options
from fairlead.kafka.partition_reading import partition_counts
from fairlead.settings import Settings, load_settings
from fairlead.wire.topics import TopicNames
from streaming.cluster import prepare_topics
from tests.fixtures.secure_kafka import MECHANISMS, PASSWORD, SecureKafka

pytestmark = pytest.mark.broker

USER: Final = "somebody"
FAULTS: Final = {
    "password": ("sasl_plain_password", "refuses the login of 'somebody' by SCRAM-SHA-512"),
    "authority": ("ssl_cafile", r"no authority in .*stranger.pem has signed the certificate"),
    "name": ("bootstrap_servers", r"is for another name .*'localhost'"),
    "expired": ("bootstrap_servers", "is no longer valid .certificate has expired."),
    "plain-to-tls": ("security_protocol", "speaks TLS, and security_protocol is PLAINTEXT"),
    "tls-to-plain": ("security_protocol", "speaks no TLS, and security_protocol is SASL_SSL"),
    "mechanism": ("sasl_mechanism", "accepts no login by PLAIN"),
    "no-login": ("security_protocol", "wants a login, and security_protocol is SSL"),
    "login-to-plain": ("security_protocol", "accepts no login, and .* SASL_PLAINTEXT"),
    "no-file": ("ssl_cafile", "cannot be used .No such file"),
}
"""What is wrong -> the option to look at, and the words that say it."""
EVERYBODY_MEETS: Final = tuple(FAULTS)[:6]


def _options(broker: SecureKafka, fault: str) -> dict[str, Any]:
    """Return kafka-python's options of somebody who has it wrong."""
    right = {**broker.security(USER), "bootstrap_servers": broker.secure}
    wrong: dict[str, dict[str, Any]] = {
        "password": {"sasl_plain_password": "not the one"},
        "authority": {"ssl_cafile": str(broker.certificates.stranger)},
        "name": {"bootstrap_servers": broker.secure.replace("127.0.0.1", "localhost")},
        "expired": {"bootstrap_servers": broker.over},
        "tls-to-plain": {"bootstrap_servers": broker.plain},
        "mechanism": {"sasl_mechanism": "PLAIN"},
        "no-login": {"security_protocol": "SSL"},
        "login-to-plain": {
            "security_protocol": "SASL_PLAINTEXT",
            "bootstrap_servers": broker.plain,
        },
        "no-file": {"ssl_cafile": "/nowhere/ca.pem"},
    }
    if fault == "plain-to-tls":
        return {"bootstrap_servers": broker.secure, "security_protocol": "PLAINTEXT"}
    return {**right, **wrong[fault]}


def _settings(options: dict[str, Any], folder: Path) -> Settings:
    security = {name: value for name, value in options.items() if name != "bootstrap_servers"}
    if "sasl_plain_password" in security:
        secret = folder / "password"
        secret.write_text(security.pop("sasl_plain_password"), encoding="utf-8")
        security["sasl_plain_password_file"] = str(secret)
    own = {
        "kafka.bootstrap": options["bootstrap_servers"],
        "engine.checkpoint": str(folder / "state"),
    }
    named = {f"kafka.security.{name}": value for name, value in security.items()}
    return load_settings(overrides={**named, **own})


@pytest.fixture(scope="module")
def broker(secure_kafka: SecureKafka) -> SecureKafka:
    """The broker, with one user."""
    secure_kafka.add_users([USER])
    return secure_kafka


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_what_is_right_is_taken(broker: SecureKafka, mechanism: str) -> None:
    """A user gets through by each mechanism."""
    options = {**broker.security(USER, mechanism), "bootstrap_servers": broker.secure}
    assert first_contact(options).taken


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fault_is_named(broker: SecureKafka, fault: str) -> None:
    """A first contact names the option and the cause, has a remedy, and tells no secret."""
    options = _options(broker, fault)
    option, words = FAULTS[fault]
    found = first_contact(options).fault
    assert found is not None
    assert found.option == option
    assert re.search(words, found.says)
    assert found.remedy
    assert options.get("sasl_plain_password", PASSWORD) not in f"{found}"


@pytest.mark.parametrize("fault", EVERYBODY_MEETS)
def test_each_process_names_the_cause(broker: SecureKafka, fault: str, tmp_path: Path) -> None:
    """Commands, engine, bridge, doctor and client: all by the same words."""
    options = _options(broker, fault)
    option, words = FAULTS[fault]
    settings = _settings(options, tmp_path)
    where = "kafka.bootstrap" if option == "bootstrap_servers" else f"kafka.security.{option}"
    named = re.compile(f"{re.escape(where)}: .*{words}")
    names = TopicNames(settings.kafka.topic_prefix)
    bridge = ControlTopics(
        settings.kafka.bootstrap, names, timeout_ms=2_000, options=library_options(settings.kafka)
    )
    with pytest.raises(EnvironmentMissingError, match=named) as of_command:
        partition_counts(settings.kafka, [names.name("decisions")])
    assert of_command.value.remedy
    with pytest.raises(EnvironmentMissingError, match=named):
        prepare_topics(settings, may_create=True)
    with pytest.raises(EnvironmentMissingError, match=named):
        bridge.__enter__()
    context = CheckContext(settings)
    with contextlib.closing(context.cluster):
        answers = {each.check: each.answer for each in examine_all(context)}
    assert answers["broker"].status is Status.FAIL
    assert named.match(answers["broker"].says)
    assert answers["broker"].remedy

    given = {name: value for name, value in options.items() if name != "bootstrap_servers"}
    consumer = Consumer(
        bootstrap=options["bootstrap_servers"],
        group="g",
        topics=["t"],
        kafka=given,
        lease_ms=3_000,
        heartbeat_ms=500,
        start_timeout_ms=600,
    )
    with contextlib.closing(consumer), pytest.raises(StartFailedError, match=words) as failed:
        consumer.start()
    assert isinstance(failed.value.__cause__, BrokerConnectionError)
    assert failed.value.__cause__.option == option


def test_a_command_ends_at_once_with_the_cause(broker: SecureKafka, tmp_path: Path) -> None:
    """From the shell: the cause, what to do, exit code 3, and no word of dead brokers."""
    password = tmp_path / "password"
    password.write_text("not the one\n", encoding="utf-8")
    config = tmp_path / "fairlead.toml"
    config.write_text(
        f"""[kafka]
bootstrap = "{broker.secure}"
[kafka.security]
security_protocol = "SASL_SSL"
sasl_mechanism = "SCRAM-SHA-512"
sasl_plain_username = "{USER}"
sasl_plain_password_file = "{password}"
ssl_cafile = "{broker.certificates.authority}"
""",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "fairlead", "group", "list", "--config", str(config)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 3, ended
    assert "kafka.security.sasl_plain_password: " in ended.stderr
    assert "refuses the login of 'somebody'" in ended.stderr
    assert "brokers run" not in ended.stderr
