"""The bridge when one of its clusters fails: nothing wrong is published, and nothing is lost."""

import gc
import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from kafka import KafkaAdminClient

from fairlead.bridges.control_topics import ControlTopics
from fairlead.bridges.kafka.answer import OffsetLookup
from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.bridges.kafka.kafka_side import KafkaSide
from fairlead.bridges.kafka.retry_topics import RetryTopics
from fairlead.bridges.kafka.route_book import RouteBook
from fairlead.bridges.kafka.topic_maker import TopicMaker
from fairlead.bridges.request_answerer import RequestAnswerer
from fairlead.bridges.request_book import RequestBook
from fairlead.bridges.route_publisher import RoutePublisher
from fairlead.bridges.watch_list import WatchList
from fairlead.core.outputs import Request
from fairlead.core.records import RouteChanged
from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings
from fairlead.wire.encode_bridge import encode_route
from fairlead.wire.topics import TopicNames
from tests.kit.bridge import running
from tests.kit.bridge_ledger import SECONDS_MAX, Ledger, queues_of

if TYPE_CHECKING:
    from fairlead.broker import EmbeddedKafka

# The threads are counted, so none begins in between to look for topics to remove.
TIMES = BridgeTimes(poll_ms=200, discovery_ms=200, timeout_ms=3_000, remove_after_ms=0)

pytestmark = [
    pytest.mark.broker,
    # kafka-python leaves the socket of a refused connection to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


@pytest.fixture(scope="module")
def fragile(tmp_path_factory: pytest.TempPathFactory) -> Iterator["EmbeddedKafka"]:
    """A second cluster, whose node is in a rack, to break."""
    from fairlead.broker import EmbeddedKafka

    folder = tmp_path_factory.mktemp("fragile")
    with EmbeddedKafka(folder, properties={"broker.rack": "rack-a"}) as cluster:
        yield cluster


@pytest.fixture
def mended(fragile: "EmbeddedKafka", caplog: pytest.LogCaptureFixture) -> Iterator["EmbeddedKafka"]:
    """The second cluster, in service."""
    # The log lines of kafka-python hold its exceptions, these the sockets that it forgets.
    caplog.set_level(logging.CRITICAL, logger="kafka")
    if not fragile.is_running():
        fragile.restart()
    yield fragile
    if fragile.is_running():
        # A test that failed may have left it paused, and the next ones would fail with it.
        fragile.resume()
    gc.collect()


def make_topic(cluster: "EmbeddedKafka", topic: str, partitions: int) -> None:
    """Make a topic on the second cluster."""
    admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap)
    admin.create_topics({topic: {"num_partitions": partitions}}, wait_for_metadata=True)
    admin.close()


def grow_topic(bootstrap: str, topic: str, partitions: int) -> None:
    """Add partitions to a topic."""
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_partitions({topic: partitions})
    admin.close()


def await_line(lines: Sequence[Mapping[str, Any]], event: str, word: str) -> None:
    """Wait for a log line of this event with a word in it."""
    deadline = time.monotonic() + SECONDS_MAX
    while not any(line["event"] == event and word in str(line) for line in list(lines)):
        assert time.monotonic() < deadline, f"no {event} with {word} in {lines}"
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("breakage", ["kill", "pause"])
def test_while_the_data_cluster_fails_nothing_is_published(
    ledger: Ledger, bootstrap: str, mended: "EmbeddedKafka", topic: str, breakage: str
) -> None:
    """While the data cluster fails nothing is published; requests are answered when it is back."""
    make_topic(mended, topic, 2)
    bridge = KafkaBridge(
        control_bootstrap=bootstrap,
        data_bootstrap=mended.bootstrap,
        prefix=ledger.names.prefix,
        topics=[topic],
        topic_pattern="nothing",
        cluster_name="main",
        times=TIMES,
    )
    others = set(threading.enumerate())
    with structlog.testing.capture_logs() as lines, running(bridge):
        route = ledger.await_route(topic, 2).route
        assert route is not None
        assert route.brokers[0].zones == ("rack-a", "rack-a")
        assert route.brokers[0].leaders == ("1", "1")
        threads = len(set(threading.enumerate()) - others)
        getattr(mended, breakage)()
        ledger.ask(Request("g", "offsets", topic, None, None))
        await_line(lines, "nothing_published", "unclear")
        await_line(lines, "look_up_failed", "names")
        ledger.read_all()
        assert len(ledger.routes) == 1
        assert ledger.offsets == []
        assert len(set(threading.enumerate()) - others) <= threads
        mended.restart() if breakage == "kill" else mended.resume()
        ledger.await_that(lambda: ledger.offsets)
        grow_topic(mended.bootstrap, topic, 3)
        ledger.await_route(topic, 3)
    ledger.read_all()
    # A node that stood still has no leaders for a moment when it is back: that is a route too.
    assert [queues for queues, _ in groupby(map(queues_of, ledger.routes))] == [2, 3]


@pytest.mark.slow
def test_a_route_is_written_when_the_control_cluster_is_back(
    ledger: Ledger, bootstrap: str, mended: "EmbeddedKafka", topic: str
) -> None:
    """A route that could not be written is written when Fairlead's topics are back."""
    connection = {"bootstrap_servers": mended.bootstrap}
    names = TopicNames(f"{topic}.")
    create_topics(connection, names.prefix, topic_specs(load_settings().topics), 1)
    control = Ledger(mended.bootstrap, names)
    # The bridge looks once at its start; topics that were just made may have no leader yet.
    control.read_all()
    ledger.make_topic(topic, 2)
    bridge = KafkaBridge(
        control_bootstrap=mended.bootstrap,
        data_bootstrap=bootstrap,
        prefix=names.prefix,
        topics=[topic],
        cluster_name="main",
        times=replace(TIMES, timeout_ms=6_000),
    )
    with structlog.testing.capture_logs() as lines, running(bridge):
        await_line(lines, "route_published", topic)
        mended.kill()
        ledger.admin.create_partitions({topic: 3})
        await_line(lines, "write_failed", "routes")
        mended.restart()
        await_line(lines, "route_published", "'queues': 3")
    control.read_all()
    control.close()
    # What was appended and not acknowledged is written again.
    published = [(each.topic, queues_of(each)) for each in control.routes]
    assert [each for each, _ in groupby(published)] == [(topic, 2), (topic, 3)]


def make_answerer(data: DataCluster, control: ControlTopics, names: TopicNames) -> RequestAnswerer:
    """What answers requests in a bridge of cluster ``main``, to be driven by hand."""
    published = RouteBook("main", "localhost:9092", confirm_ms=100)
    maker = TopicMaker("localhost:9092", timeout_ms=1_000, options={})
    side = KafkaSide("main", data, published, RetryTopics(maker, retry_queue_nums=0))
    return RequestAnswerer(
        cluster="main",
        names=names,
        side=side,
        control=control,
        routes=RoutePublisher(side, control, published, names),
        book=RequestBook(pause_ms_max=100, give_up_ms=10_000),
        published=published,
        watched=WatchList(named=[], pattern=None, hidden_prefix="", forget_ms=1_000),
    )


class RecreatingCluster(DataCluster):
    """The real cluster, on which somebody makes the topic anew in the middle of a look-up."""

    recreate: Sequence[str] = ()

    def bounds(
        self, topic: str, leaders: Mapping[int, int], timestamps: Sequence[int]
    ) -> tuple[OffsetLookup, dict[int, dict[int, int]]]:
        """Look up the bounds; the first time the topic then begins another life."""
        found = super().bounds(topic, leaders, timestamps)
        if topic in self.recreate:
            self.recreate = ()
            admin = KafkaAdminClient(bootstrap_servers=self._config["bootstrap_servers"])
            admin.delete_topics([topic])
            admin.create_topics({topic: {"num_partitions": 3}}, wait_for_metadata=True)
            admin.close()
        return found


def test_topic_of_two_lives(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """What was looked up over the end of a topic's life is no answer; the next try gives one."""
    ledger.make_topic(topic, 3)
    names = ledger.names
    data = RecreatingCluster(bootstrap, timeout_ms=5_000, options={})
    data.recreate = [topic]
    control = ControlTopics(bootstrap, names, timeout_ms=5_000, options={})
    with closing(data), control:
        answerer = make_answerer(data, control, names)
        answerer.note([Request("g", "offsets", topic, None, None)], now_ms=0)
        answerer.answer_due(now_ms=0)
        ledger.read_all()
        assert [change.topic for change in ledger.routes] == [topic]
        assert ledger.offsets == []
        for now_ms in (100, 200, 300):
            answerer.answer_due(now_ms=now_ms)
    ledger.read_all()
    first, second = (change.route.identity for change in ledger.routes if change.route is not None)
    assert first != second
    assert [known.identity for known in ledger.offsets] == [second]


@pytest.mark.slow
def test_a_hanging_control_cluster_is_named_at_start(mended: "EmbeddedKafka", topic: str) -> None:
    """A cluster that accepts connections and says nothing is named at start."""
    names = TopicNames(f"{topic}.")
    connection = {"bootstrap_servers": mended.bootstrap}
    create_topics(connection, names.prefix, topic_specs(load_settings().topics), 1)
    ledger = Ledger(mended.bootstrap, names)
    deletion = encode_route(RouteChanged(topic, None), names)
    assert deletion.key is not None
    ledger.write("routes", deletion.key, deletion.value)
    for _ in range(12):
        # More than one fetch brings.
        ledger.write("routes", b"no route", b"x" * 500_000)
    ledger.close()
    with ControlTopics(mended.bootstrap, names, timeout_ms=2_000, options={}) as control:
        routes = control.routes()
        assert next(routes) == RouteChanged(topic, None)
        mended.pause()
        try:
            with pytest.raises(EnvironmentMissingError, match="may be frozen"):
                list(routes)
            with pytest.raises(EnvironmentMissingError, match=mended.bootstrap):
                list(control.routes())
            with pytest.raises(EnvironmentMissingError, match=mended.bootstrap):
                control.follow_requests(0)
            assert control.write([deletion]) == [False]
            again = ControlTopics(mended.bootstrap, names, timeout_ms=2_000, options={})
            with pytest.raises(EnvironmentMissingError, match=mended.bootstrap):
                again.__enter__()
        finally:
            mended.resume()


def test_an_answer_that_was_not_written_is_given_again(
    ledger: Ledger, bootstrap: str, mended: "EmbeddedKafka", topic: str
) -> None:
    """An answer that could not be written is given again when Fairlead's topics are back."""
    names = TopicNames(f"{topic}.")
    connection = {"bootstrap_servers": mended.bootstrap}
    create_topics(connection, names.prefix, topic_specs(load_settings().topics), 1)
    ledger.make_topic(topic, 2)
    data = DataCluster(bootstrap, timeout_ms=5_000, options={})
    control = ControlTopics(mended.bootstrap, names, timeout_ms=2_000, options={})
    with closing(data), control:
        answerer = make_answerer(data, control, names)
        answerer.note([Request("g", "route", topic, None, None)], now_ms=0)
        answerer.answer_due(now_ms=0)
        answerer.note([Request("g", "offsets", topic, None, None)], now_ms=0)
        deadline = time.monotonic() + SECONDS_MAX
        while not data.committed("g", topic, [0]):
            # The first question about a group makes the topic that has the answer.
            assert time.monotonic() < deadline
        with structlog.testing.capture_logs() as lines:
            mended.pause()
            try:
                answerer.answer_due(now_ms=0)
            finally:
                mended.resume()
            # The client connects again, which may take longer than a write may.
            for now_ms in range(100, 10_000, 100):
                answerer.answer_due(now_ms=now_ms)
                if lines[-1]["event"] == "request_answered":
                    break
    events = [line["event"] for line in lines]
    told = [event for event in events if event.startswith(("write", "request"))]
    assert told == ["write_failed"] * (len(told) - 1) + ["request_answered"]
    assert len(told) > 1
    control_ledger = Ledger(mended.bootstrap, names)
    control_ledger.read_all()
    control_ledger.close()
    # A write that was given up may have reached the broker all the same.
    assert control_ledger.routes == [control_ledger.routes[0]] * len(control_ledger.routes)
    assert 1 <= len(control_ledger.offsets) <= len(told)
    assert all(known.group == "g" for known in control_ledger.offsets)


def test_a_look_up_without_an_answer_ends_in_time(mended: "EmbeddedKafka", topic: str) -> None:
    """A look-up that gets no answer tells nothing, in bounded time."""
    make_topic(mended, topic, 8)
    with closing(DataCluster(mended.bootstrap, timeout_ms=1_000, options={})) as data:
        identity = data.identity(topic)
        assert identity is not None
        mended.pause()
        began = time.monotonic()
        try:
            assert data.bounds(topic, dict.fromkeys(range(8), 1), []) == (OffsetLookup(), {})
            assert data.identity(topic) is None
            assert data.committed("g", topic, [0]) == {}
            assert data.names() is None
        finally:
            mended.resume()
        assert time.monotonic() - began < 10
        while (found := data.identity(topic)) is None:
            assert time.monotonic() - began < SECONDS_MAX
        assert found == identity


def test_a_bridge_in_an_outage_stops_when_asked(mended: "EmbeddedKafka", topic: str) -> None:
    """A bridge whose cluster is gone stops when it is asked to."""
    names = TopicNames(f"{topic}.")
    connection = {"bootstrap_servers": mended.bootstrap}
    create_topics(connection, names.prefix, topic_specs(load_settings().topics), 1)
    make_topic(mended, topic, 1)
    bridge = KafkaBridge(
        control_bootstrap=mended.bootstrap, prefix=names.prefix, topics=[topic], times=TIMES
    )
    with structlog.testing.capture_logs() as lines:
        with running(bridge):
            await_line(lines, "route_published", topic)
            mended.kill()
        await_line(lines, "bridge_stopped", "")
