"""The command ``fairlead bridge kafka``."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer

from fairlead.cli.bridge import connection_options
from fairlead.errors import UsageError
from fairlead.settings import load_settings
from tests.bridges.kafka.ledger import SECONDS_MAX, Ledger


def test_secured(tmp_path: Path) -> None:
    """The security settings reach kafka-python by its own names, the password out of its file."""
    (tmp_path / "password").write_text("secret\n", encoding="utf-8")
    overrides = {
        "kafka.security.security_protocol": "SASL_SSL",
        "kafka.security.sasl_mechanism": "PLAIN",
        "kafka.security.sasl_plain_username": "fairlead",
        "kafka.security.sasl_plain_password_file": str(tmp_path / "password"),
        "kafka.security.ssl_cafile": str(tmp_path / "ca.pem"),
    }
    options = connection_options(load_settings(overrides=overrides).kafka.security)
    assert options == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "fairlead",
        "sasl_plain_password": "secret",
        "ssl_cafile": str(tmp_path / "ca.pem"),
        "ssl_check_hostname": True,
    }
    for client in (KafkaAdminClient, KafkaConsumer, KafkaProducer):
        assert set(options) <= set(client.DEFAULT_CONFIG)


def test_no_password(tmp_path: Path) -> None:
    """A password file that is not there is named."""
    overrides = {
        "kafka.security.security_protocol": "SASL_SSL",
        "kafka.security.sasl_mechanism": "PLAIN",
        "kafka.security.sasl_plain_username": "fairlead",
        "kafka.security.sasl_plain_password_file": str(tmp_path / "nothing"),
    }
    with pytest.raises(UsageError, match="sasl_plain_password_file"):
        connection_options(load_settings(overrides=overrides).kafka.security)


def test_command(ledger: Ledger, bootstrap: str, topic: str, tmp_path: Path) -> None:
    """The command publishes, logs one JSON document per line, and ends with 0 on SIGTERM."""
    ledger.make_topic(topic, 2)
    command = [
        *(sys.executable, "-m", "fairlead", "bridge", "kafka", "--bootstrap", bootstrap),
        *("--data-bootstrap", bootstrap, "--topics", f"{topic}, {topic}-later"),
        *("--topic-prefix", ledger.names.prefix, "--cluster-name", "main", "--poll-ms", "200"),
    ]
    log_file = tmp_path / "log"
    with log_file.open("wb") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            ledger.await_route(topic, 2)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            code = process.wait(SECONDS_MAX)
        finally:
            process.kill()
    assert code == 0
    assert time.monotonic() - began < 5
    events = [orjson.loads(line)["event"] for line in log_file.read_bytes().splitlines()]
    assert events[0] == "bridge_started"
    assert "route_published" in events
    assert events[-1] == "bridge_stopped"
