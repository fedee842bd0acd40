"""A producer on real brokers of both lines, which are killed and frozen while it sends."""

import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from uuid import uuid4

import pytest
from fairlead_client import NoRouteError, OutgoingMessage, Producer, by_hash

from tests.kit.awaiting import await_seen
from tests.kit.rocketmq_topic import RocketMQTopic

if TYPE_CHECKING:
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

WAIT = 60.0
ATTEMPT_S = 1.0
"""A third of a message's 3 s: so long a broker that is silent holds it up."""
SENDERS = 3


@pytest.fixture
def producer(cluster: Any) -> Iterator[Producer]:
    """A started producer that creates topics."""
    with Producer(data_plane="rocketmq", namesrv=cluster.namesrv, create_topics=True) as one:
        yield one


@pytest.mark.usefixtures("both_lines")
def test_a_message_comes_as_it_was_sent(producer: Producer, topic: RocketMQTopic) -> None:
    """A long body, key, tag and headers are in the broker's message, whose id is the result's."""
    body = bytes(range(256)) * 64
    message = OutgoingMessage(topic.name, body, b"k1 k2", "paid", (("colour", b"blau"),))
    result = producer.send(message)
    (found,) = topic.stored(result.queue, result.offset)
    assert found.value == body
    assert (found.key, found.message_id) == (b"k1 k2", result.message_id)
    assert found.properties["TAGS"] == "paid"
    assert found.properties["colour"] == "blau"


@pytest.mark.usefixtures("both_lines")
def test_messages_of_one_key_stay_in_order(producer: Producer, topic: RocketMQTopic) -> None:
    """A key's messages are in one queue, one after the other."""
    results = {}
    for number in range(40):
        key = f"order-{number % 5}"
        message = OutgoingMessage(topic.name, b"%d" % number, key.encode())
        results[number] = producer.send(message, selector=by_hash(key))
    for order in range(5):
        own = [results[number] for number in range(order, 40, 5)]
        assert len({result.queue for result in own}) == 1
        assert [result.offset for result in own] == sorted(result.offset for result in own)
        assert topic.stored(own[-1].queue, own[-1].offset)[0].value == b"%d" % (35 + order)


@pytest.mark.usefixtures("both_lines")
def test_a_delayed_message(producer: Producer, topic: RocketMQTopic) -> None:
    """It is in its queue about a second after it was sent, not before."""
    begun = monotonic()
    queue = producer.send(OutgoingMessage(topic.name, b"late", delay_level=1)).queue
    (found,) = await_seen(lambda: topic.stored(queue, 0), bool, what="the delayed message")
    assert monotonic() - begun >= 0.9
    assert found.value == b"late"


@pytest.mark.usefixtures("both_lines")
def test_topics_are_created_if_asked(producer: Producer, cluster: Any) -> None:
    """The broker of the first message creates its topic; without the setting nobody does."""
    name = f"new-{uuid4().hex[:8]}"
    with (
        Producer(data_plane="rocketmq", namesrv=cluster.namesrv) as careful,
        pytest.raises(NoRouteError, match="create it, or give create_topics=True"),
    ):
        careful.send(OutgoingMessage(name, b"1"))
    assert producer.send(OutgoingMessage(name, b"1")).offset == 0


class Sent(NamedTuple):
    """One message: when it was begun, how long it took in seconds, and its broker or its error."""

    begun: float
    took: float
    ended: str


class Senders:
    """Threads that send one message after the other, until they are stopped."""

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer, self._topic = producer, topic
        self._stopping = threading.Event()
        self._counted = threading.Condition()
        self.sent: list[Sent] = []
        self._threads = [threading.Thread(target=self._run) for _ in range(SENDERS)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(WAIT)

    def since(self, moment: float) -> list[Sent]:
        """Return the messages begun since then that have ended."""
        with self._counted:
            return [each for each in self.sent if each.begun >= moment]

    def await_more(self, count: int) -> None:
        """Wait until so many more messages have ended."""
        with self._counted:
            wanted = len(self.sent) + count
            assert self._counted.wait_for(lambda: len(self.sent) >= wanted, WAIT)

    def _run(self) -> None:
        while not self._stopping.is_set():
            begun = monotonic()
            try:
                ended = self._producer.send(OutgoingMessage(self._topic, b"1")).broker
            except Exception as error:  # noqa: BLE001 - every error is the test's finding
                ended = repr(error)
            with self._counted:
                self.sent.append(Sent(begun, monotonic() - begun, ended))
                self._counted.notify_all()


@pytest.fixture(params=["5.3.3", "4.9.7"])
def fragile(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator["EmbeddedRocketMQ"]:
    """Two brokers to be broken."""
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

    cluster = EmbeddedRocketMQ(tmp_path, version=request.param, brokers=2)
    cluster.start()
    yield cluster
    for server in cluster.servers:
        cluster.kill(server)


@pytest.mark.slow
@pytest.mark.broker
@pytest.mark.timeout(480)
def test_a_broker_that_freezes_and_dies(fragile: "EmbeddedRocketMQ") -> None:
    """No message fails: all go to the other broker until this one works again, few after a wait."""
    topic = RocketMQTopic(fragile, "orders")
    with (
        Producer(data_plane="rocketmq", namesrv=fragile.namesrv) as producer,
        Senders(producer, topic.name) as senders,
    ):
        senders.await_more(200)
        fragile.pause("broker-b")
        frozen = monotonic()
        senders.await_more(300)
        while_frozen = senders.since(frozen)
        resumed = monotonic()
        fragile.resume("broker-b")
        await_seen(lambda: _brokers(senders.since(resumed)), _both, seconds=WAIT, what="a return")
        fragile.kill("broker-b")
        killed = monotonic()
        senders.await_more(300)
        while_dead = senders.since(killed)
        back = monotonic()
        fragile.restart("broker-b")
        await_seen(lambda: _brokers(senders.since(back)), _both, seconds=WAIT, what="a return")
    topic.close()
    assert {each.ended for each in senders.sent} == {"broker-a", "broker-b"}
    assert {each.ended for each in while_frozen} == {"broker-a"}
    assert {each.ended for each in while_dead} == {"broker-a"}
    held_up = [each for each in while_frozen if each.took >= ATTEMPT_S]
    assert len(held_up) <= 2 * SENDERS
    assert max(each.took for each in senders.sent) < 2.5


def _brokers(sent: list[Sent]) -> set[str]:
    return {each.ended for each in sent}


def _both(brokers: set[str]) -> bool:
    return len(brokers) > 1
