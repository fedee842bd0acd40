"""The settings of the data plane RocketMQ: a wrong one is named, with the remedy."""

from pathlib import Path
from typing import Any

import pytest
from fairlead_client import (
    BroadcastPushConsumer,
    Consumer,
    ConsumeResult,
    PullConsumer,
    PushConsumer,
)
from fairlead_client.errors import SettingsError
from fairlead_client.settings.client_settings import Settings
from fairlead_client.settings.rocketmq_settings import rocketmq_settings

WHO: dict[str, Any] = {"bootstrap": "k:9092", "group": "orders", "topics": ["orders"]}
ON_ROCKETMQ: dict[str, Any] = {**WHO, "data_plane": "rocketmq", "namesrv": "a:9876"}


def test_name_servers_one_by_one() -> None:
    """RocketMQ's semicolons, commas and lists are taken, each server once."""
    for given in ("a:9876;b:9877", "a:9876, b:9877;a:9876", ["a:9876", "b:9877"]):
        assert rocketmq_settings(given, {}).name_servers == ("a:9876", "b:9877")


def test_limits_and_logins() -> None:
    """Times become seconds; the login is shown nowhere."""
    options = {
        "access_key": "me",
        "secret_key": "hush-hush",
        "security_token": "hush-token",
        "request_timeout_ms": 1_500,
        "suspend_ms": 20_000,
        "tls": True,
        "tls_check_hostname": False,
    }
    made = rocketmq_settings("a:9876", options)
    assert made.connection.credentials is not None
    assert (made.connection.call_s, made.suspend_ms, made.pull_batch_size) == (1.5, 20_000, 32)
    assert made.connection.tls is not None
    assert not made.connection.tls.check_hostname
    settings = Settings(**ON_ROCKETMQ, rocketmq=options)
    assert "hush" not in f"{made!r}{settings!r}"


@pytest.mark.parametrize(
    "given, field, words",
    [
        ({"namesrv": ""}, "namesrv", "names no name server; give namesrv="),
        ({"namesrv": "a"}, "namesrv", "'a' is not a valid name server"),
        ({"namesrv": "http://a:1"}, "namesrv", "not a valid name server"),
        ({"namesrv": [9876]}, "namesrv", "is not a string"),
        (
            {"data_plane": "pulsar"},
            "data_plane",
            "'pulsar' is unknown; give one of kafka,",
        ),
        ({"data_plane": "kafka"}, "namesrv", 'leave it out, or give data_plane="rocketmq"'),
        ({"topics": ["a.b"]}, "topics", "'a.b' is not a topic of RocketMQ; give"),
        ({"fetch": {"max_poll_records": 5}}, "fetch", "this client reads RocketMQ"),
        (
            {"rocketmq": {"acces_key": "x"}},
            "rocketmq",
            "unknown option 'acces_key'; use one of",
        ),
        (
            {"rocketmq": {"access_key": "x"}},
            "rocketmq.secret_key",
            "access_key is given",
        ),
        ({"rocketmq": {"security_token": "x"}}, "rocketmq.security_token", "give all three"),
        ({"rocketmq": {"secret_key": 7}}, "rocketmq.secret_key", "is not a string"),
        ({"rocketmq": {"tls": "yes"}}, "rocketmq.tls", "True or False"),
        ({"rocketmq": {"tls_ca_file": "/x"}}, "rocketmq.tls_ca_file", "given without tls=True"),
        ({"rocketmq": {"suspend_ms": 60_000}}, "rocketmq.suspend_ms", "give 100 to 25000"),
        (
            {"rocketmq": {"tls": True, "tls_ca_file": "/nowhere"}},
            "rocketmq.tls_ca_file",
            "/nowhere cannot be used",
        ),
        (
            {"rocketmq": {"tls": True, "tls_key_file": "/x"}},
            "rocketmq.tls_key_file",
            "give tls_cert_file too",
        ),
    ],
)
def test_a_wrong_setting_is_named(given: dict[str, Any], field: str, words: str) -> None:
    """The error has the field, what is wrong and what to do."""
    with pytest.raises(SettingsError) as raised:
        Settings(**{**ON_ROCKETMQ, **given})
    assert raised.value.field == field
    assert words in str(raised.value)


def test_a_certificate_that_is_none(tmp_path: Path) -> None:
    """A file that is no PEM is named."""
    file = tmp_path / "client.pem"
    file.write_text("nothing")
    with pytest.raises(SettingsError, match=r"tls_cert_file: .*client.pem cannot be used"):
        rocketmq_settings("a:1", {"tls": True, "tls_cert_file": str(file)})


def _listen(messages: object, context: object) -> ConsumeResult:
    del messages, context
    return ConsumeResult.CONSUME_SUCCESS


def test_who_reads_kafka_only() -> None:
    """A broadcasting consumer says which one reads RocketMQ."""
    with pytest.raises(SettingsError, match=r"data_plane: .*PushConsumer"):
        BroadcastPushConsumer(**ON_ROCKETMQ, listener=_listen, client_id="a")


def test_retry_topics_of_rocketmq_are_for_everybody() -> None:
    """Its brokers hold messages back until they are due; on Kafka a Consumer would be early."""
    Consumer(**ON_ROCKETMQ, retry_topic=True)
    with pytest.raises(SettingsError, match=r"retry_topic: .* before its messages are due"):
        Consumer(**WHO, retry_topic=True)


def test_a_client_of_a_gateway_needs_no_kafka() -> None:
    """Without a gateway the control still comes from Kafka."""
    where = {name: value for name, value in ON_ROCKETMQ.items() if name != "bootstrap"}
    PullConsumer(**where, gateway="http://127.0.0.1:1")
    with pytest.raises(SettingsError, match=r"gateway: PullConsumer needs it to join .*bootstrap="):
        PullConsumer(**where)
    with pytest.raises(SettingsError, match="bootstrap: PushConsumer needs it"):
        PushConsumer(group="g", topics=["t"], gateway="http://127.0.0.1:1", listener=_listen)


def test_another_tag_header() -> None:
    """RocketMQ has one place for a message's tag."""
    with pytest.raises(SettingsError, match=r"tag_header: .*property TAGS"):
        PullConsumer(**ON_ROCKETMQ, tag_header="kind")
