"""What a started producer makes of its settings: how often a message is tried, and for how long."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from itertools import pairwise
from typing import Any

import pytest
from fairlead_client.model import Queue
from fairlead_client.produce.outgoing import MessageError, OutgoingMessage
from fairlead_client.produce.queue_choice import by_hash
from fairlead_client.produce.send_error import Fault, SendFailedError, SendingError
from fairlead_client.produce.sender import Accepted
from fairlead_client.produce.target import Target
from fairlead_client.producer import Producer
from fairlead_client.session.clock import now_ms

pytestmark = pytest.mark.broker
WAIT_SECONDS = 30
TOPIC = "three-brokers"
MESSAGE = OutgoingMessage(TOPIC, b"x")
Started = Callable[..., Producer]


class Busy:
    """A data plane some of whose brokers are busy, and some answer nothing."""

    def __init__(self, *, busy: str = "123", silent: str = "") -> None:
        self.met: list[tuple[str | None, int]] = []
        self.busy = busy
        self._silent = silent

    def knows(self, topic: str) -> bool:
        """All topics."""
        return bool(topic)

    def learn(self, topic: str, timeout_ms: int, queues: int | None = None) -> None:
        """Nothing to learn."""

    def send(self, target: Target, message: OutgoingMessage, timeout_ms: int) -> Future[Accepted]:
        """Be busy, or silent, or store it."""
        assert message.value
        self.met.append((target.broker, timeout_ms))
        ended: Future[Accepted] = Future()
        broker = target.broker or ""
        if broker in self._silent:
            return ended
        if broker in self.busy:
            ended.set_exception(SendingError(Fault.BUSY, "busy"))
        else:
            ended.set_result(Accepted(1, broker))
        return ended

    def close(self, timeout_ms: int) -> None:
        """Nothing to close."""


@pytest.fixture
def started(
    bootstrap: str, topic_prefix: str, publish: Callable[..., None]
) -> Iterator[Callable[..., Producer]]:
    """Start producers of a topic of three brokers with one queue each."""
    publish(TOPIC, ["1", "2", "3"])
    producers: list[Producer] = []

    def start(plane: Busy, **settings: Any) -> Producer:
        made = Producer(
            bootstrap=bootstrap, prefix=topic_prefix, make_sender=lambda _, __: plane, **settings
        )
        producers.append(made)
        return made.start()

    yield start
    for producer in producers:
        producer.close()


def test_attempts_of_each_way(started: Started) -> None:
    """Three in 3,000 ms, each elsewhere; one if one-way or chosen; the last takes what is left."""
    plane = Busy()
    producer = started(plane)
    ways: list[tuple[Callable[[], object], int]] = [
        (lambda: producer.send(MESSAGE), 3),
        (lambda: producer.send_async(MESSAGE).result(WAIT_SECONDS), 3),
        (lambda: producer.send(MESSAGE, selector=by_hash("k")), 1),
        (lambda: producer.send_async(MESSAGE, selector=by_hash("k")).result(WAIT_SECONDS), 1),
    ]
    for send, count in ways:
        plane.met.clear()
        with pytest.raises(SendFailedError, match=f"gave up after {count} attempts"):
            send()
        brokers, times_ms = zip(*plane.met, strict=True)
        assert len(set(brokers)) == len(brokers) == count
        assert all(time_ms == 1_000 for time_ms in times_ms[:-1])
        assert 2_000 < times_ms[-1] <= 3_000
    plane.met.clear()
    producer.send_one_way(MESSAGE)
    producer.close()
    assert len(plane.met) == 1


def test_three_silent_brokers_share_one_time_budget(started: Started) -> None:
    """Three silent brokers take 3,000 ms together, or the time that the call gives."""
    producer = started(Busy(silent="123"))
    for timeout_ms, budget_ms in ((None, 3_000), (600, 600)):
        begun_ms = now_ms()
        with pytest.raises(SendFailedError) as caught:
            producer.send(MESSAGE, timeout_ms)
        assert budget_ms <= now_ms() - begun_ms < 2 * budget_ms
        assert len({attempt.broker for attempt in caught.value.attempts}) == 3
        assert len(caught.value.attempts) == 3


def test_a_message_of_more_than_4_mib_is_refused(started: Started) -> None:
    """A message of more than 4 MiB is refused before anything is tried, one of 4 MiB is not."""
    plane = Busy()
    producer = started(plane, retries=0)
    with pytest.raises(MessageError, match="4194305 bytes"):
        producer.send(OutgoingMessage(TOPIC, bytes(4 * 1024 * 1024 + 1)))
    assert plane.met == []
    with pytest.raises(SendFailedError):
        producer.send(OutgoingMessage(TOPIC, bytes(4 * 1024 * 1024)))


def test_a_producer_selects_as_rocketmq_if_asked(started: Started) -> None:
    """A producer follows its `selection`: 4 frees a broker that is fast again, 5 does not."""
    until_ms = {}
    for selection in ("rocketmq-4", "rocketmq-5"):
        plane = Busy(busy="1")
        producer = started(plane, selection=selection)
        sent = [producer.send(MESSAGE) for _ in range(9)]
        # By its table a failed broker is passed over, so it was met once.
        assert [broker for broker, _ in plane.met].count("1") == 1
        assert {result.broker for result in sent} == {"2", "3"}
        until_ms[selection] = producer.brokers()["1"].avoided_until_ms - now_ms()
        plane.busy = ""
        producer.send(MESSAGE, selector=lambda _: Queue(TOPIC, "main", 0))
        sent = [producer.send(MESSAGE) for _ in range(6)]
        assert ("1" in {result.broker for result in sent}) == (selection == "rocketmq-4")
    assert 540_000 < until_ms["rocketmq-4"] <= 600_000
    assert until_ms["rocketmq-5"] <= 10_000


def test_rocketmqs_own_selection_without_avoidance(started: Started) -> None:
    """Without avoidance the next after a failed broker is the next in its order, each time."""
    for selection in ("rocketmq-4", "rocketmq-5"):
        plane = Busy(busy="1")
        producer = started(plane, selection=selection, avoid_slow=False)
        for _ in range(9):
            producer.send(MESSAGE)
        brokers = [broker for broker, _ in plane.met]
        after = [then for failed, then in pairwise(brokers) if failed == "1"]
        assert len(after) >= 3
        assert set(after) == {"2"}
