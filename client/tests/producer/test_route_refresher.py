"""Routes that a producer lacks: read to the end first, then asked for, by one caller at a time."""

from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import pytest
from fairlead_client.produce.publish_table import PublishTable
from fairlead_client.produce.route_refresher import RouteRefresher
from fairlead_client.produce.send_error import NoRouteError
from fairlead_client.routes.topic_route import BrokerData, QueueData, TopicRoute
from fairlead_client.session.clock import now_ms
from kafka.errors import KafkaTimeoutError

WAIT_SECONDS = 30
ROUTE = TopicRoute((QueueData("A", 8, 8, 6),), (BrokerData("A", addresses={0: "a"}),))


class Reader:
    """A reader of routes whose end is where the test says."""

    def __init__(self) -> None:
        self.asked: list[Future[None]] = []
        self.was_asked = Event()

    def read_to_end(self) -> Future[None]:
        """Note that somebody asked."""
        self.asked.append(Future())
        self.was_asked.set()
        return self.asked[-1]


def at_its_end() -> Future[None]:
    """Return that all was read."""
    done: Future[None] = Future()
    done.set_result(None)
    return done


def test_what_was_written_is_read_first() -> None:
    """A route that is there already is found without asking anybody."""
    table, reader, asked = PublishTable(lambda: 0), Reader(), list[str]()
    refresher = RouteRefresher(table, reader.read_to_end, asked.append, lambda: None)
    with ThreadPoolExecutor() as pool:
        found = pool.submit(refresher.look_up, "orders", 30_000)
        assert reader.was_asked.wait(WAIT_SECONDS)
        table.set_route("orders", ROUTE)
        reader.asked[0].set_result(None)
        assert found.result(WAIT_SECONDS) is table.find("orders")
    assert asked == []


def test_the_bridge_is_asked() -> None:
    """A topic without a route is asked for; its answer ends the wait."""
    table = PublishTable(lambda: 0)
    refresher = RouteRefresher(
        table, at_its_end, lambda topic: table.set_route(topic, ROUTE), lambda: None
    )
    assert refresher.look_up("orders", 30_000) is table.find("orders")


def test_a_wait_for_a_route_ends_with_the_callers_time() -> None:
    """The wait ends with the caller's time, in an error that names the topic."""
    refresher = RouteRefresher(PublishTable(lambda: 0), at_its_end, lambda _: None, lambda: None)
    begun = now_ms()
    with pytest.raises(NoRouteError, match="'orders' has no route"):
        refresher.look_up("orders", 50)
    assert now_ms() - begun >= 50


def test_a_request_that_fails() -> None:
    """Who cannot ask still gets what comes in time."""
    table = PublishTable(lambda: 0)
    table.set_route("TBW102", ROUTE)

    def fails(topic: str) -> None:
        raise OSError(topic)

    refresher = RouteRefresher(table, at_its_end, fails, lambda: None)
    found = refresher.look_up("orders", 100)
    assert found.is_default
    assert len(found.info.queues) == 4


def test_a_request_that_nobody_answered_yet() -> None:
    """A connection too new to know the topic of requests is asked again, within the wait."""
    table, tries = PublishTable(lambda: 0), list[str]()

    def request(topic: str) -> None:
        tries.append(topic)
        if len(tries) < 3:
            raise KafkaTimeoutError("Failed to update metadata after 0.5 secs.")
        table.set_route(topic, ROUTE)

    refresher = RouteRefresher(table, at_its_end, request, lambda: None)
    assert refresher.look_up("orders", 30_000) is table.find("orders")
    assert tries == ["orders"] * 3


def test_a_request_that_hangs() -> None:
    """Who cannot even connect to ask holds up nobody for longer than the time given."""
    hanging = Event()

    def hangs(_: str) -> None:
        hanging.wait(WAIT_SECONDS)

    refresher = RouteRefresher(PublishTable(lambda: 0), at_its_end, hangs, lambda: None)
    try:
        with pytest.raises(NoRouteError):
            refresher.look_up("orders", 50)
    finally:
        hanging.set()
        refresher.stop()
    refresher.ask("orders")


def test_a_second_caller_waits_no_longer_than_its_time() -> None:
    """One caller reads to the end; another waits for it, within its own time."""
    table, reader = PublishTable(lambda: 0), Reader()
    refresher = RouteRefresher(table, reader.read_to_end, lambda _: None, lambda: None)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(refresher.look_up, "orders", 30_000)
        assert reader.was_asked.wait(WAIT_SECONDS)
        with pytest.raises(NoRouteError):
            refresher.look_up("bills", 50)
        assert len(reader.asked) == 1, "the second caller began a refresh of its own"
        table.set_route("orders", ROUTE)
        reader.asked[0].set_result(None)
        assert first.result(WAIT_SECONDS) is table.find("orders")


def test_wanted_topics_are_asked_for_again() -> None:
    """At each interval every topic that lacks a route is asked for, and all is read."""
    table, asked, twice = PublishTable(lambda: 0), list[str](), Event()

    def request(topic: str) -> None:
        asked.append(topic)
        if len(asked) >= 4:
            twice.set()

    refresher = RouteRefresher(table, at_its_end, request, lambda: None)
    refresher.interval_ms = 5
    table.set_route("known", ROUTE)
    for topic in ("orders", "bills", "known"):
        table.find(topic)
    refresher.start()
    assert twice.wait(WAIT_SECONDS)
    refresher.stop()
    refresher.join(WAIT_SECONDS)
    assert asked[:4] == ["bills", "orders", "bills", "orders"]


def test_a_round_tries_each_topic_once() -> None:
    """Nobody waits for the rounds: brokers that answer nobody do not make them pile up."""
    table, asked, rounds, enough = PublishTable(lambda: 0), list[str](), list[int](), Event()

    def request(topic: str) -> None:
        asked.append(topic)
        raise KafkaTimeoutError(topic)

    def refreshed() -> None:
        rounds.append(len(asked))
        if len(rounds) >= 10:
            enough.set()

    refresher = RouteRefresher(table, at_its_end, request, refreshed)
    refresher.interval_ms = 20
    table.find("orders")
    refresher.start()
    assert enough.wait(WAIT_SECONDS)
    refresher.stop()
    refresher.join(WAIT_SECONDS)
    assert 0 < len(asked) <= len(rounds) + 1
