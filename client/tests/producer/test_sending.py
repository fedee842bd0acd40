"""One message on its way, against a data plane that fails on demand."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from threading import Event
from typing import Any

import pytest
from fairlead_client.errors import FairleadClientError
from fairlead_client.model import Queue
from fairlead_client.produce.broker_health import BrokerHealth
from fairlead_client.produce.outgoing import OutgoingMessage, SendResult
from fairlead_client.produce.publish_table import PublishTable
from fairlead_client.produce.queue_selection import NoQueueError
from fairlead_client.produce.selector import FairSelector
from fairlead_client.produce.send_attempts import SendAttempts
from fairlead_client.produce.send_error import Fault, NoRouteError, SendFailedError, SendingError
from fairlead_client.produce.sender import Accepted
from fairlead_client.produce.sending import SendContext, Sending
from fairlead_client.produce.target import Target
from fairlead_client.routes.topic_route import BrokerData, QueueData, TopicRoute
from fairlead_client.session.clock import now_ms
from fairlead_client.session.observer import ProducerObserver
from fairlead_client.session.timer import Timer

WAIT_SECONDS = 30
ROUTE = TopicRoute(
    tuple(QueueData(broker, 1, 1, 6) for broker in "ABC"),
    tuple(BrokerData(broker, addresses={0: broker}) for broker in "ABC"),
)
Answer = Callable[[Target, Future[Accepted]], None]


class Plane:
    """A data plane in memory: each broker does what its name is mapped to."""

    def __init__(self, **brokers: Answer) -> None:
        self._brokers = brokers
        self.met: list[str | None] = []

    def knows(self, topic: str) -> bool:
        """All topics."""
        return bool(topic)

    def learn(self, topic: str, timeout_ms: int, queues: int | None = None) -> None:
        """Nothing to learn."""

    def send(self, target: Target, message: OutgoingMessage, timeout_ms: int) -> Future[Accepted]:
        """Let the target's broker answer."""
        assert message.value
        assert timeout_ms > 0
        self.met.append(target.broker)
        ended: Future[Accepted] = Future()
        self._brokers.get(target.broker or "", stores)(target, ended)
        return ended

    def close(self, timeout_ms: int) -> None:
        """Nothing to close."""


def stores(target: Target, ended: Future[Accepted]) -> None:
    """Store the message at offset 7."""
    ended.set_result(Accepted(7, target.broker or ""))


def fails(error: Exception) -> Answer:
    """Fail with an error."""
    return lambda _, ended: ended.set_exception(error)


@contextmanager
def sending(
    plane: Plane, *, attempt_ms: int = 1_000, **given: Any
) -> Iterator[tuple[Callable[[], Sending], FairSelector, list[str]]]:
    """Give what begins a message on a plane, the selector that learns, and topics asked for."""
    table = PublishTable(lambda: 0)
    table.set_route("T", ROUTE)
    given.get("tables", []).append(table)
    selector, timer, asked = FairSelector(BrokerHealth()), Timer("test"), list[str]()
    timer.start()
    observer = given.get("observer", ProducerObserver())
    ways = SendContext(table, selector, plane, timer, asked.append, observer)

    def begin() -> Sending:
        attempts = SendAttempts(
            attempts_max=given.get("attempts_max", 3),
            timeout_ms=given.get("timeout_ms", 30_000),
            attempt_timeout_ms=attempt_ms,
            begun_ms=now_ms(),
        )
        message = OutgoingMessage(given.get("topic", "T"), b"x")
        one = Sending(ways, message, attempts, given.get("choice"))
        one.attempt()
        return one

    yield begin, selector, asked
    timer.stop()
    timer.join(WAIT_SECONDS)


def test_the_result_says_where_a_message_is_stored() -> None:
    """The first queue's broker stores it: the result says where."""
    with sending(Plane()) as (begin, selector, _):
        result = begin().result.result(WAIT_SECONDS)
        assert result == SendResult(Queue("T", "A", 0), 7, "A")
        assert set(selector.states()) == {"A"}


def test_next_broker_after_a_failure() -> None:
    """After a failure another broker stores it; the failed one is avoided by later messages."""
    plane = Plane(A=fails(SendingError(Fault.UNREACHABLE, "gone")))
    with sending(plane) as (begin, selector, asked):
        assert begin().result.result(WAIT_SECONDS).broker == "B"
        assert plane.met == ["A", "B"]
        assert not selector.states()["A"].reachable
        for _ in range(6):
            begin().result.result(WAIT_SECONDS)
        assert plane.met.count("A") == 1
        assert asked == []


def test_a_moved_queue_blames_no_broker() -> None:
    """Who is not the leader is not blamed; the route is asked for and another broker tried."""
    plane = Plane(A=fails(SendingError(Fault.NOT_LEADER, "moved")))
    with sending(plane) as (begin, selector, asked):
        assert begin().result.result(WAIT_SECONDS).broker == "B"
        assert asked == ["T"]
        assert set(selector.states()) == {"B"}


def test_leader_that_the_sender_met() -> None:
    """Latency counts for the broker that stored the message, and the table learns of it."""
    plane = Plane(A=lambda _, ended: ended.set_result(Accepted(1, "C")))
    with sending(plane) as (begin, selector, _):
        assert begin().result.result(WAIT_SECONDS) == SendResult(Queue("T", "A", 0), 1, "C")
        assert set(selector.states()) == {"C"}


class Clumsy(ProducerObserver):
    """Raises the error that the test gives."""

    def attempt_succeeded(self, broker: str, latency_ms: int) -> None:
        """Raise."""
        raise ZeroDivisionError(broker, latency_ms)

    def attempt_failed(self, broker: str | None, latency_ms: int, fault: str) -> None:
        """Raise."""
        raise ZeroDivisionError(broker, latency_ms, fault)


def test_an_observer_that_raises() -> None:
    """What an observer raises keeps no message from its end."""
    plane = Plane(A=fails(SendingError(Fault.UNREACHABLE, "gone")))
    with sending(plane, observer=Clumsy()) as (begin, _, _):
        assert begin().result.result(WAIT_SECONDS).broker == "B"


def test_given_up_by_the_application() -> None:
    """A message whose result was cancelled is not tried again."""
    plane = Plane(A=lambda _, ended: held.append(ended), B=lambda _, ended: held.append(ended))
    held: list[Future[Accepted]] = []
    with sending(plane) as (begin, _, _):
        one = begin()
        assert one.result.cancel()
        held[0].set_exception(SendingError(Fault.UNREACHABLE, "gone"))
        one.attempt()
        assert plane.met == ["A"]


def test_a_silent_broker_costs_one_attempt() -> None:
    """A broker that answers nothing costs an attempt's time; its late answer changes nothing."""
    held: list[Future[Accepted]] = []

    def leaves(_target: Target, ended: Future[Accepted]) -> None:
        assert ended.set_running_or_notify_cancel()
        held.append(ended)

    plane = Plane(A=leaves)
    with sending(plane, attempt_ms=60) as (begin, selector, _):
        assert begin().result.result(WAIT_SECONDS).broker == "B"
        held[0].set_result(Accepted(3, "A"))
        assert not selector.states()["A"].reachable


def test_silent_broker_and_a_single_attempt() -> None:
    """A broker is blamed for its silence also where the message had no more time than that."""
    plane = Plane(A=lambda _, __: None)
    with sending(plane, attempts_max=1, timeout_ms=100) as (begin, selector, _):
        with pytest.raises(SendFailedError, match="no answer within"):
            begin().result.result(WAIT_SECONDS)
        assert [begin().result.result(WAIT_SECONDS).broker for _ in range(4)].count("A") == 0
        assert not selector.states()["A"].reachable


def test_what_has_not_left_in_time_stays() -> None:
    """An attempt that is over before its message left is cancelled, so that it never leaves."""
    held: list[Future[Accepted]] = []
    with sending(Plane(A=lambda _, ended: held.append(ended)), attempt_ms=20) as (begin, _, _):
        assert begin().result.result(WAIT_SECONDS).broker == "B"
        assert not held[0].set_running_or_notify_cancel()


def test_the_final_error_names_each_broker_tried() -> None:
    """The final error names each broker tried, what it said and its time."""
    plane = Plane(
        A=fails(SendingError(Fault.BUSY, "busy")),
        B=fails(SendingError(Fault.UNREACHABLE, "gone")),
        C=fails(SendingError(Fault.REFUSED, "never")),
    )
    with sending(plane) as (begin, _, _):
        error = begin().result.exception(WAIT_SECONDS)
    assert isinstance(error, SendFailedError)
    assert [(attempt.broker, attempt.error) for attempt in error.attempts] == [
        ("A", "busy"),
        ("B", "gone"),
        ("C", "never"),
    ]


@pytest.mark.parametrize("error", [RuntimeError("bug"), SendingError(Fault.REFUSED, "too long")])
def test_a_refusal_is_not_tried_again(error: Exception) -> None:
    """What a broker refuses, and what nobody expected, is not tried again."""
    with sending(Plane(A=fails(error))) as (begin, _, _):
        final = begin().result.exception(WAIT_SECONDS)
    assert isinstance(final, SendFailedError)
    assert str(error) in str(final)
    assert len(final.attempts) == 1


def test_an_error_of_the_sender_ends_the_message_alone() -> None:
    """An error of the sender itself is the message's end, not its thread's."""

    def raises(_target: Target, _ended: Future[Accepted]) -> None:
        raise ValueError("no such partition")

    with sending(Plane(A=raises)) as (begin, _, _):
        assert str(begin().result.exception(WAIT_SECONDS)) == "no such partition"


def test_topic_that_is_gone() -> None:
    """A topic without route ends in its error."""
    with sending(Plane(), topic="gone") as (begin, _, _):
        assert isinstance(begin().result.exception(WAIT_SECONDS), NoRouteError)


@pytest.mark.parametrize(
    "after, cause",
    [
        (None, NoRouteError),
        (replace(ROUTE, queue_datas=()), NoQueueError),
    ],
)
def test_topic_that_goes_between_two_attempts(
    after: TopicRoute | None, cause: type[Exception]
) -> None:
    """The brokers that were tried are named although no other attempt can be begun."""
    tables: list[PublishTable] = []

    def changes(_target: Target, ended: Future[Accepted]) -> None:
        tables[0].set_route("T", after)
        ended.set_exception(SendingError(Fault.UNREACHABLE, "gone"))

    with sending(Plane(A=changes), tables=tables) as (begin, _, _):
        error = begin().result.exception(WAIT_SECONDS)
    assert isinstance(error, SendFailedError)
    assert [attempt.broker for attempt in error.attempts] == ["A"]
    assert isinstance(error.__cause__, cause)
    assert re.search(rf"T/0 on broker A: gone after \d+ ms; {cause.__name__}: ", str(error))


def test_a_chosen_queue_is_used_whether_avoided_or_not() -> None:
    """A queue chosen by the application is taken, avoided or not; nonsense is an error."""
    queue = Queue("T", "C", 0)
    plane = Plane()
    with sending(plane, choice=lambda _: queue) as (begin, selector, _):
        selector.failed("C", 1, reachable=False, now_ms=0)
        assert begin().result.result(WAIT_SECONDS).queue == queue
    with sending(plane, choice=lambda _: Queue("T", "Z", 9)) as (begin, _, _):
        error = begin().result.exception(WAIT_SECONDS)
    assert isinstance(error, FairleadClientError)
    assert "selector: it returned" in str(error)


def test_a_message_given_up_stays_so() -> None:
    """A message that was given up stays so, whatever answers later."""
    held: list[Future[Accepted]] = []
    plane = Plane(A=lambda _, ended: held.append(ended))
    with sending(plane) as (begin, _, _):
        one = begin()
        one.give_up(SendFailedError((), 0))
        one.give_up(SendFailedError((), 1))
        held[0].set_result(Accepted(1, "A"))
        assert str(one.result.exception(WAIT_SECONDS)).startswith("gave up after 0 attempts in 0")


def test_an_entry_that_fails_ends_nothing() -> None:
    """Entries are called in the order of their times, and one that fails ends nothing."""
    timer, called, done = Timer("test"), list[int](), Event()
    timer.at(2, lambda: called.append(2))
    timer.at(1, lambda: called.append(1 // 0))
    timer.at(0, lambda: called.append(0))
    timer.at(3, done.set)
    timer.start()
    assert done.wait(WAIT_SECONDS)
    assert called == [0, 2]
    timer.stop()
    timer.join(WAIT_SECONDS)
    assert not timer.is_alive()
