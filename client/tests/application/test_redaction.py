"""No credential reaches a log, however much kafka-python logs."""

import logging
from collections.abc import Iterator

import pytest
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.connection import consumer_options
from fairlead_client.transport.redaction import LOGGERS
from kafka.protocol.parser import KafkaProtocol
from kafka.protocol.sasl import SaslAuthenticateRequest

PASSWORD = b"hunter2"


@pytest.fixture
def unfiltered() -> Iterator[None]:
    """Loggers as they are before any client with credentials was made, and after the test."""
    before = {name: list(logging.getLogger(name).filters) for name in LOGGERS}
    for name in LOGGERS:
        logging.getLogger(name).filters.clear()
    yield
    for name, filters in before.items():
        logging.getLogger(name).filters[:] = filters


def authenticate() -> None:
    """Have kafka-python log what it logs when it authenticates."""
    request = SaslAuthenticateRequest(b"\0user\0" + PASSWORD, version=1)
    logging.getLogger("kafka.net.connection").debug("%s Request %d: %s", "c", 1, request)
    protocol = KafkaProtocol(client_id="c", api_version=(4, 0))
    protocol.send_request(request)
    protocol.send_bytes()


@pytest.mark.usefixtures("unfiltered")
def test_kafka_python_alone_logs_the_password(caplog: pytest.LogCaptureFixture) -> None:
    """Left alone, kafka-python logs the password."""
    with caplog.at_level(logging.DEBUG, "kafka"):
        authenticate()
    assert caplog.text.count(PASSWORD.decode()) == 3


@pytest.mark.usefixtures("unfiltered")
def test_credentials_are_not_logged_and_the_rest_is(caplog: pytest.LogCaptureFixture) -> None:
    """With credentials in the settings nothing of them is logged, and the rest still is."""
    settings = Settings(
        bootstrap="b:1",
        group="orders",
        topics=["orders"],
        kafka={"sasl_mechanism": "PLAIN", "sasl_plain_password": PASSWORD.decode()},
    )
    for _ in range(2):
        consumer_options(settings, "me")
    with caplog.at_level(logging.DEBUG, "kafka"):
        authenticate()
    assert PASSWORD.decode() not in caplog.text
    assert caplog.text.count("<redacted>") == 3
    assert [len(logging.getLogger(name).filters) for name in LOGGERS] == [1, 1]
