"""A producer against servers of the remoting protocol that the test leads by hand."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from fairlead_client import (
    MessageError,
    NoRouteError,
    OutgoingMessage,
    Producer,
    SendFailedError,
    SettingsError,
    StartFailedError,
)
from fairlead_client.produce.outgoing import SendStatus, check_message
from fairlead_client.remoting.command import Command
from fairlead_client.rocketmq.message_properties import read_properties
from fairlead_client.rocketmq.name_server_routes import NameServerRoutes

from tests.kit.awaiting import await_seen
from tests.kit.remoting_server import response, serving

ABSENT = 17


class Servers:
    """A name server and two brokers; each does what the test sets.

    Attributes:
        topics: topic -> its brokers, as the name server knows them.
        codes: broker -> the code of its answers to a message.
        sent: every message that reached a broker: the broker and the request.
    """

    def __init__(self, stack: ExitStack) -> None:
        self.topics: dict[str, list[str]] = {"orders": ["A", "B"]}
        self.codes: dict[str, int] = {}
        self.sent: list[tuple[str, Command]] = []
        self.addresses = {
            broker: stack.enter_context(serving(self._broker(broker))) for broker in "AB"
        }
        self.namesrv = stack.enter_context(serving(self._name_server))

    def _broker(self, broker: str) -> Any:
        def serve(command: Command) -> list[Command]:
            self.sent.append((broker, command))
            answer = response(command, code=self.codes.get(broker, 0), remark="as the test says")
            answer.fields["queueOffset"] = "7"
            return [answer]

        return serve

    def _name_server(self, command: Command) -> list[Command]:
        brokers = self.topics.get(command.fields["topic"])
        if brokers is None:
            return [response(command, code=ABSENT, remark="no topic")]
        route = {
            "queueDatas": [
                {"brokerName": each, "readQueueNums": 2, "writeQueueNums": 2, "perm": 6}
                for each in brokers
            ],
            "brokerDatas": [
                {"brokerName": each, "cluster": "c", "brokerAddrs": {"0": self.addresses[each]}}
                for each in brokers
            ],
        }
        return [response(command, json.dumps(route).encode())]


@pytest.fixture
def servers() -> Iterator[Servers]:
    """Servers that answer well."""
    with ExitStack() as stack:
        yield Servers(stack)


def _producing(servers: Servers, **settings: Any) -> Producer:
    return Producer(data_plane="rocketmq", namesrv=servers.namesrv, **settings)


def test_all_parts_of_a_message(servers: Servers) -> None:
    """Key, tag, headers and delay are properties in the request; the id is the result's."""
    headers = (("colour", b"blue"),)
    message = OutgoingMessage("orders", b"body", b"k1 k2", "paid", headers, 1_000, 3)
    with _producing(servers, group="shop") as producer:
        result = producer.send(message)
    ((broker, command),) = servers.sent
    fields = command.fields
    assert (result.broker, result.queue.broker_name, result.offset) == (broker, broker, 7)
    assert result.status is SendStatus.SEND_OK
    assert (command.code, bytes(command.body)) == (310, b"body")
    assert [fields[letter] for letter in "abegn"] == [
        *("shop", "orders"), str(result.queue.queue_id), "1000", broker,
    ]  # fmt: skip
    assert read_properties(fields["i"].encode()) == {
        "colour": "blue", "KEYS": "k1 k2", "TAGS": "paid", "DELAY": "3", "WAIT": "true",
        "UNIQ_KEY": result.message_id,
    }  # fmt: skip


@pytest.mark.parametrize(
    "given, field",
    [
        ({"topic": "a.b"}, "topic"),
        ({"topic": "a" * 128}, "topic"),
        ({"key": b"\xff"}, "key"),
        ({"headers": (("a", b"\xff"),)}, "headers"),
        ({"headers": (("a", b""),)}, "headers"),
        ({"headers": (("a", b"1"), ("a", b"2"))}, "headers"),
        ({"headers": (("KEYS", b"1"),)}, "headers"),
        ({"headers": (("UNIQ_KEY", b"1"),)}, "headers"),
        ({"headers": (("a", b"1\x02"),)}, "a"),
        ({"headers": (("a", b"1" * 33_000),)}, "headers"),
        ({"delay_level": 0}, "delay_level"),
        ({"delay_level": "3"}, "delay_level"),
    ],
)
def test_what_rocketmq_cannot_keep(servers: Servers, given: dict[str, Any], field: str) -> None:
    """The error names the part and the remedy, and nothing is sent."""
    with _producing(servers) as producer:
        with pytest.raises(MessageError, match=f"^{field}: .*; ") as raised:
            producer.send(OutgoingMessage(**{"topic": "orders", "value": b"1"} | given))
        assert raised.value.field == field
    assert servers.sent == []


def test_a_busy_broker(servers: Servers) -> None:
    """The message goes to the other broker, and so do the next ones."""
    servers.codes["A"] = 2
    with _producing(servers) as producer:
        brokers = [producer.send(OutgoingMessage("orders", b"1")).broker for _ in range(20)]
        assert producer.brokers()["A"].suspect
    assert set(brokers) == {"B"}
    assert [broker for broker, _ in servers.sent].count("A") == 1


def test_a_message_that_no_broker_takes(servers: Servers) -> None:
    """One attempt is made, and the error has the broker's words."""
    servers.codes = {"A": 13, "B": 13}
    with (
        _producing(servers) as producer,
        pytest.raises(SendFailedError, match="13: as the test says") as raised,
    ):
        producer.send(OutgoingMessage("orders", b"1"))
    assert len(raised.value.attempts) == len(servers.sent) == 1


def test_a_broker_that_did_not_flush_in_time(servers: Servers) -> None:
    """It has the message: nobody sends it again, and the result says how it is stored."""
    servers.codes = {"A": 10, "B": 10}
    with _producing(servers) as producer:
        result = producer.send(OutgoingMessage("orders", b"1"))
    assert result.status is SendStatus.FLUSH_DISK_TIMEOUT
    assert len(servers.sent) == 1


def test_an_unknown_topic(servers: Servers) -> None:
    """It is an error, unless topics are to be created; then the request says by which one."""
    with (
        _producing(servers) as producer,
        pytest.raises(NoRouteError, match=r"'new' has no route .*; create it, or give"),
    ):
        producer.send(OutgoingMessage("new", b"1"))
    with (
        _producing(servers, create_topics=True) as producer,
        pytest.raises(NoRouteError, match="create it, or check namesrv"),
    ):
        producer.send(OutgoingMessage("new", b"1"))
    servers.topics["TBW102"] = ["B"]
    with _producing(servers, create_topics=True) as producer:
        assert producer.send(OutgoingMessage("new", b"1")).broker == "B"
    assert servers.sent[-1][1].fields["c"] == "TBW102"


def test_a_name_server_that_knows_nothing_any_more(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last route counts until a broker too says that the topic is gone."""
    monkeypatch.setattr(NameServerRoutes, "interval_ms", 20)
    with _producing(servers, send_timeout_ms=30_000) as producer:
        producer.send(OutgoingMessage("orders", b"1"))
        servers.topics.clear()
        for _ in range(10):
            producer.send(OutgoingMessage("orders", b"1"))
        assert all(command.fields["c"] != "TBW102" for _, command in servers.sent)
        servers.codes = {"A": ABSENT, "B": ABSENT}
        with pytest.raises(SendFailedError, match="NoRouteError: topic 'orders' has no route"):
            producer.send(OutgoingMessage("orders", b"1"))


def test_a_route_that_changes(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that the topic leaves gets no more messages after the next look-up."""
    monkeypatch.setattr(NameServerRoutes, "interval_ms", 20)
    with _producing(servers) as producer:
        producer.send(OutgoingMessage("orders", b"1"))
        servers.topics["orders"] = ["B"]

        def three() -> set[str]:
            return {producer.send(OutgoingMessage("orders", b"1")).broker for _ in range(3)}

        await_seen(three, lambda seen: seen == {"B"}, what="messages for B alone")


def test_no_name_server() -> None:
    """The start fails within its time, and the error names the servers."""
    producer = Producer(data_plane="rocketmq", namesrv="127.0.0.1:1", start_timeout_ms=300)
    with pytest.raises(
        StartFailedError, match=r"no name server of 127.0.0.1:1 .*; check .*namesrv"
    ):
        producer.start()
    producer.close()


@pytest.mark.parametrize(
    "given, field",
    [
        ({}, "namesrv"),
        ({"namesrv": "mq"}, "namesrv"),
        ({"namesrv": "mq:1", "bootstrap": "k:1"}, "bootstrap"),
        ({"namesrv": "mq:1", "kafka": {"sasl_mechanism": "PLAIN"}}, "kafka"),
        ({"namesrv": "mq:1", "zone": "a"}, "zone"),
        ({"namesrv": "mq:1", "rocketmq": {"acess_key": "a"}}, "rocketmq"),
        ({"namesrvaddr": "mq:1"}, "namesrvaddr"),
        ({"namesrv": "mq:1", "data_plane": "kafka", "bootstrap": "k:1"}, "namesrv"),
    ],
)
def test_settings_that_do_not_fit(given: dict[str, Any], field: str) -> None:
    """A setting that cannot work is named, with the remedy."""
    with pytest.raises(SettingsError, match=f"^{field}: .*; ") as raised:
        Producer(**{"data_plane": "rocketmq"} | given)
    assert raised.value.field == field


def test_kafka_holds_nothing_back() -> None:
    """A delay level is refused where it would be lost."""
    message = OutgoingMessage("orders", b"1", delay_level=3)
    check_message(message, 10, delays=True)
    with pytest.raises(MessageError, match=r"^delay_level: .*; leave it out"):
        check_message(message, 10)
