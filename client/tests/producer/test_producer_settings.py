"""What an application may choose for a producer, and the refusal of what cannot work."""

from typing import Any

import pytest
from fairlead_client.errors import SettingsError
from fairlead_client.produce.latency_table import TABLE_4, TABLE_5
from fairlead_client.produce.outgoing import MessageError, OutgoingMessage, check_message
from fairlead_client.produce.producer_settings import ProducerSettings
from fairlead_client.session.topic_names import RESERVED


@pytest.mark.parametrize(
    "given, field",
    [
        ({"bootstrap": " , "}, "bootstrap"),
        ({"group": "a b"}, "group"),
        ({"client_id": "a b"}, "client_id"),
        ({"retries": -1}, "retries"),
        ({"send_timeout_ms": 0}, "send_timeout_ms"),
        ({"attempt_timeout_ms": 0}, "attempt_timeout_ms"),
        ({"max_message_bytes": 0}, "max_message_bytes"),
        ({"start_timeout_ms": 0}, "start_timeout_ms"),
        ({"kafka": {"acks": 0}}, "kafka"),
        ({"selection": "rocketmq-3"}, "selection"),
    ],
)
def test_a_setting_that_cannot_work_is_named_with_a_remedy(
    given: dict[str, Any], field: str
) -> None:
    """A setting that cannot work is named, with the remedy."""
    with pytest.raises(SettingsError, match=f"^{field}: .*; ") as caught:
        ProducerSettings(**{"bootstrap": "localhost:9092"} | given)
    assert caught.value.field == field


def test_a_message_has_the_defaults_of_rocketmq() -> None:
    """A message has RocketMQ's time, its attempts and its size, unless somebody says otherwise."""
    settings = ProducerSettings(bootstrap="a:1")
    assert (settings.send_timeout_ms, settings.retries) == (3_000, 2)
    assert settings.max_message_bytes == 4 * 1024 * 1024
    check_message(OutgoingMessage("T", bytes(4 * 1024 * 1024)), settings.max_message_bytes)
    with pytest.raises(MessageError, match="4194305 bytes are more than 4194304"):
        check_message(OutgoingMessage("T", bytes(4 * 1024 * 1024 + 1)), settings.max_message_bytes)


@pytest.mark.parametrize("topic", sorted(RESERVED))
def test_topics_of_the_brokers(topic: str) -> None:
    """Nobody sends to a topic that brokers keep for themselves (TopicValidator#isSystemTopic)."""
    with pytest.raises(
        MessageError, match=r"^topic: .* is reserved for the brokers; name another topic"
    ):
        check_message(OutgoingMessage(topic, b"1"), 10)


@pytest.mark.parametrize(
    "given, topic", [("payments", "payments"), ("no topic", "orders"), (b"x", "orders")]
)
def test_a_value_that_is_no_message_is_refused_with_the_right_form(given: Any, topic: str) -> None:
    """The refusal of a topic and a value, as kafka-python takes them, shows what a message is."""
    with pytest.raises(MessageError) as caught:
        check_message(given, 10)
    assert caught.value.field == "message"
    said = f'a {type(given).__name__} is no OutgoingMessage; send OutgoingMessage("{topic}", b"…")'
    assert said in str(caught.value)


def test_table_of_a_selection() -> None:
    """A selection goes by the latency table of its line, unless another one is chosen."""
    for selection, table in (("fair", TABLE_5), ("rocketmq-4", TABLE_4), ("rocketmq-5", TABLE_5)):
        chosen: Any = {"bootstrap": "a:1", "selection": selection}
        assert ProducerSettings(**chosen).table is table
        assert ProducerSettings(**chosen, latency_table=TABLE_4).table is TABLE_4


def test_share_of_an_attempt() -> None:
    """Unless it is set, an attempt may take an equal share of the message's time."""
    settings = ProducerSettings(bootstrap="a:1, b:2")
    assert settings.bootstrap_servers == ["a:1", "b:2"]
    assert settings.attempt_ms == 1_000
    assert ProducerSettings(bootstrap="a:1", retries=0).attempt_ms == 3_000
    short = ProducerSettings(bootstrap="a:1", attempt_timeout_ms=250)
    assert (short.attempt_ms, short.longest_attempt_ms) == (250, 3_000)
    assert ProducerSettings(bootstrap="a:1", attempt_timeout_ms=5_000).longest_attempt_ms == 5_000


def test_passwords_are_not_shown() -> None:
    """Connection options are in no representation."""
    settings = ProducerSettings(bootstrap="a:1", kafka={"sasl_plain_password": "secret"})
    assert "secret" not in repr(settings)
