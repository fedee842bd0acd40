"""What a first attempt needs is looked up within the message's time, whatever hangs meanwhile."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from threading import Event
from threading import enumerate as enumerate_threads

import pytest
from fairlead_client.errors import ClientClosedError
from fairlead_client.model import Queue
from fairlead_client.produce.broker_health import BrokerHealth
from fairlead_client.produce.look_ups import LOOK_UPS_MAX, THREAD_NAME, LookUps
from fairlead_client.produce.outgoing import OutgoingMessage, SendResult
from fairlead_client.produce.publish_table import DEFAULT_TOPIC, Published, PublishTable
from fairlead_client.produce.route_refresher import RouteRefresher
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
PLENTY_MS = WAIT_SECONDS * 1_000
ROUTE = TopicRoute((QueueData("A", 1, 1, 6),), (BrokerData("A", addresses={0: "A"}),))
DEFAULT_ROUTE = TopicRoute((QueueData("A", 1, 1, 7),), (BrokerData("A", addresses={0: "A"}),))


class Plane:
    """A data plane that has to be asked for each topic, and answers of some when it is let."""

    def __init__(self) -> None:
        self.let = Event()
        self.learning: list[str] = []
        self.sent: list[str] = []
        self.silent = False
        self._known: set[str] = set()

    def knows(self, topic: str) -> bool:
        """What was learnt."""
        return topic in self._known

    def learn(self, topic: str, timeout_ms: int, queues: int | None = None) -> None:
        """Learn of "good" at once, refuse "bad", and hang with all others."""
        assert timeout_ms > 0
        self.learning.append(topic)
        assert queues is None
        if topic == "bad":
            raise SendingError(Fault.REFUSED, "no such partition")
        if topic != "good":
            assert self.let.wait(WAIT_SECONDS)
        self._known.add(topic)

    def send(self, target: Target, message: OutgoingMessage, timeout_ms: int) -> Future[Accepted]:
        """Store the message at offset 7, or be silent."""
        assert timeout_ms > 0
        self.sent.append(message.topic)
        ended: Future[Accepted] = Future()
        if not self.silent:
            ended.set_result(Accepted(7, target.broker or ""))
        return ended

    def close(self, timeout_ms: int) -> None:
        """Nothing to close."""


@pytest.fixture
def plane() -> Iterator[Plane]:
    """A data plane; what still hangs after the test is let go."""
    made = Plane()
    yield made
    made.let.set()


Send = Callable[..., Future[SendResult]]


@pytest.fixture
def look_ups(plane: Plane) -> Iterator[tuple[LookUps, Send]]:
    """Look-ups of topics whose routes are known but for "nowhere", and what begins a message."""
    table, timer = PublishTable(lambda: 0), Timer("test")
    for topic in ("good", "bad", "slow", "slower"):
        table.set_route(topic, ROUTE)
    read: Future[None] = Future()
    read.set_result(None)
    refresher = RouteRefresher(table, lambda: read, lambda _: None, lambda: None)
    looking = LookUps(table, refresher, plane, timer, creates=True)
    selector = FairSelector(BrokerHealth())
    ways = SendContext(table, selector, plane, timer, lambda _: None, ProducerObserver())
    timer.start()

    def send(topic: str, timeout_ms: int, *, waited_for: bool) -> Future[SendResult]:
        attempts = SendAttempts(
            attempts_max=3, timeout_ms=timeout_ms, attempt_timeout_ms=PLENTY_MS, begun_ms=now_ms()
        )
        sending = Sending(ways, OutgoingMessage(topic, b"x"), attempts, None)
        looking.begin(sending, topic, attempts, waited_for=waited_for)
        return sending.result

    yield looking, send
    looking.stop()
    refresher.stop()
    timer.stop()
    timer.join(WAIT_SECONDS)


@pytest.mark.parametrize("waited_for", [True, False])
def test_a_data_plane_that_hangs(
    plane: Plane, look_ups: tuple[LookUps, Send], *, waited_for: bool
) -> None:
    """The message ends with its time and an error that names the look-up; it is never sent."""
    looking, send = look_ups
    error = send("slow", 50, waited_for=waited_for).exception(WAIT_SECONDS)
    assert isinstance(error, SendFailedError)
    assert (error.attempts, error.out_of_time) == ((), True)
    told = str(error)
    assert told.startswith("out of time after 0 attempts in ")
    assert told.endswith(
        " ms: looking up topic 'slow': the data plane does not know it, or does not answer"
    )
    assert not plane.let.is_set()
    plane.let.set()
    # What was learnt too late is known to the next message.
    assert send("slow", PLENTY_MS, waited_for=True).result(WAIT_SECONDS).broker == "A"
    assert plane.sent == ["slow"]
    assert looking.knows("slow")


def test_who_waits_stands_behind_nobody(plane: Plane, look_ups: tuple[LookUps, Send]) -> None:
    """While all look-ups in the background hang, one that is waited for goes on; others say why."""
    _, send = look_ups
    for _ in range(LOOK_UPS_MAX):
        send("slow", PLENTY_MS, waited_for=False)
    error = send("good", 50, waited_for=False).exception(WAIT_SECONDS)
    assert str(error).endswith(
        "looking up topic 'good': it waited for the look-ups of other topics"
    )
    sent = send("good", PLENTY_MS, waited_for=True).result(WAIT_SECONDS)
    assert sent == SendResult(Queue("good", "A", 0), 7, "A")
    assert not plane.let.is_set()


def test_who_has_ended_is_not_looked_up(plane: Plane, look_ups: tuple[LookUps, Send]) -> None:
    """A message whose time ended before its turn costs no look-up."""
    _, send = look_ups
    hanging = [send("slow", PLENTY_MS, waited_for=False) for _ in range(LOOK_UPS_MAX)]
    ended = send("slower", 50, waited_for=False)
    assert isinstance(ended.exception(WAIT_SECONDS), SendFailedError)
    plane.let.set()
    for result in [*hanging, send("good", PLENTY_MS, waited_for=False)]:
        assert result.result(WAIT_SECONDS).broker == "A"
    assert "slower" not in plane.learning


def test_what_the_data_plane_refuses(look_ups: tuple[LookUps, Send]) -> None:
    """An error of the look-up is the message's final error, and says so."""
    _, send = look_ups
    error = send("bad", PLENTY_MS, waited_for=True).exception(WAIT_SECONDS)
    assert isinstance(error, SendFailedError)
    assert not error.out_of_time
    assert str(error).endswith(" ms: looking up topic 'bad': no such partition")


@pytest.mark.parametrize("waited_for", [True, False])
def test_a_topic_without_a_route_ends_in_an_error_with_a_remedy(
    look_ups: tuple[LookUps, Send], *, waited_for: bool
) -> None:
    """A topic that nobody tells of ends in the error that says what to do."""
    _, send = look_ups
    error = send("nowhere", 50, waited_for=waited_for).exception(WAIT_SECONDS)
    assert isinstance(error, NoRouteError)
    assert "'nowhere' has no route after" in str(error)


def test_an_attempt_ends_by_itself(plane: Plane, look_ups: tuple[LookUps, Send]) -> None:
    """Once the look-up is over, the error at the end of the time names the attempts."""
    _, send = look_ups
    plane.silent = True
    error = send("good", 200, waited_for=True).exception(WAIT_SECONDS)
    assert isinstance(error, SendFailedError)
    assert [attempt.broker for attempt in error.attempts] == ["A"]
    assert error.out_of_time


def test_after_the_end_a_look_up_ends_its_message(
    plane: Plane, look_ups: tuple[LookUps, Send]
) -> None:
    """When nothing is looked up any more, whoever stopped it ends the message."""
    looking, send = look_ups
    looking.stop()
    left = send("good", PLENTY_MS, waited_for=False)
    assert not left.done()
    assert plane.learning == []


class Held:
    """A finder that answers with the default route when it is let."""

    def __init__(self, table: PublishTable) -> None:
        self._table = table
        self.asked, self.let = Event(), Event()

    def look_up(self, topic: str, timeout_ms: int) -> Published:
        """Wait, then return the topic by the default route."""
        assert timeout_ms > 0
        self.asked.set()
        assert self.let.wait(WAIT_SECONDS)
        found = self._table.find_default(topic)
        assert found is not None
        return found


class Silent(Plane):
    """A data plane that is waited for as long as one may wait, and does not answer."""

    def learn(self, topic: str, timeout_ms: int, queues: int | None = None) -> None:
        """Wait, then give up."""
        assert queues is None
        assert not self.let.wait(timeout_ms / 1_000)
        raise SendingError(Fault.UNREACHABLE, f"no metadata of {topic} after {timeout_ms} ms")


def test_a_wait_that_ends_with_the_message() -> None:
    """Whichever ends first, the look-up or the message's time: both say the same beside details."""
    table, timer, plane = PublishTable(lambda: 0), Timer("test"), Silent()
    table.set_route("good", ROUTE)
    looking = LookUps(table, Held(table), plane, timer, creates=False)
    ways = SendContext(
        table, FairSelector(BrokerHealth()), plane, timer, lambda _: None, ProducerObserver()
    )
    attempts = SendAttempts(attempts_max=1, timeout_ms=50, begun_ms=now_ms())
    sending = Sending(ways, OutgoingMessage("good", b"x"), attempts, None)
    # The timer is not started: the message's own end comes later than that of the look-up.
    looking.begin(sending, "good", attempts, waited_for=True)
    told = str(sending.result.exception(WAIT_SECONDS))
    assert re.match(
        r"out of time after 0 attempts in \d+ ms: looking up topic 'good': "
        "the data plane does not know it, or does not answer: no metadata of good",
        told,
    )


def test_nothing_is_made_for_who_was_given_up(plane: Plane) -> None:
    """A message that is given up while its route is asked for has no topic made afterwards."""
    table, timer = PublishTable(lambda: 0), Timer("test")
    table.set_route(DEFAULT_TOPIC, DEFAULT_ROUTE)
    finder = Held(table)
    looking = LookUps(table, finder, plane, timer, creates=True)
    ways = SendContext(
        table, FairSelector(BrokerHealth()), plane, timer, lambda _: None, ProducerObserver()
    )
    attempts = SendAttempts(attempts_max=1, timeout_ms=PLENTY_MS, begun_ms=now_ms())
    sending = Sending(ways, OutgoingMessage("good", b"x"), attempts, None)
    looking.begin(sending, "good", attempts, waited_for=True)
    assert finder.asked.wait(WAIT_SECONDS)
    sending.give_up(ClientClosedError("closed"))
    finder.let.set()
    for thread in enumerate_threads():
        if thread.name == THREAD_NAME:
            thread.join(WAIT_SECONDS)
    assert plane.learning == []
    assert plane.sent == []
