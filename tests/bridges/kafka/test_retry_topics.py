"""The bridge makes the retry topics of groups; a failure of one does not stop the others."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Event

import pytest
import structlog
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.structs import OffsetAndMetadata

from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge
from fairlead.bridges.kafka.message_limits import (
    GROUPS_MAX,
    HEADERS_MAX,
    LimitBook,
    MessageLimit,
)
from fairlead.bridges.kafka.retry_topics import DELAYS, RetryTopics
from fairlead.core.model import MessageQueue, Position
from fairlead.core.outputs import Request
from fairlead.core.records import QueueOffsets
from tests.bridges.kafka.never_forgotten import NeverForgotten
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger
from tests.kit.bridge_requests import LIMIT, limits_of, retry_request, route_request


@pytest.fixture
def group(topic: str) -> str:
    """A group that no other test has, with all that Kafka does not allow in a topic's name."""
    return f"{topic}|a.b_%"


def name_on_kafka(prefix: str, topic: str) -> str:
    """What Kafka calls a topic of the group above."""
    return f"_-{prefix}_-{topic}_ba_db___-"


def make_bridge(
    ledger: Ledger, bootstrap: str, queues: int = 1, pattern: str | None = None
) -> KafkaBridge:
    """A quick bridge of cluster ``main``."""
    return KafkaBridge(
        control_bootstrap=bootstrap,
        prefix=ledger.names.prefix,
        cluster_name="main",
        topic_pattern=pattern,
        times=BridgeTimes(poll_ms=200, discovery_ms=200),
        retry_queue_nums=queues,
    )


@pytest.mark.parametrize("queues", [1, 2])
def test_a_group_gets_its_retry_topic_and_its_dead_letters(
    ledger: Ledger, bootstrap: str, topic: str, group: str, queues: int
) -> None:
    """A group that asks for its retry topic gets it, with queues for each delay, and its DLQ."""
    retry = f"%RETRY%{group}"
    with running(make_bridge(ledger, bootstrap, queues)):
        ledger.ask(retry_request(group, retry))
        route = ledger.await_route(retry, DELAYS * queues).route
    described = {
        found["name"]: found
        for found in ledger.admin.describe_topics(
            [name_on_kafka("RETRY", topic), name_on_kafka("DLQ", topic)]
        )
    }
    made = described[name_on_kafka("RETRY", topic)]
    from fairlead.bridges.kafka.snapshot import kafka_topic_id

    assert route is not None
    assert route.identity == kafka_topic_id(made["topic_id"])
    assert len(made["partitions"]) == DELAYS * queues
    assert len(described[name_on_kafka("DLQ", topic)]["partitions"]) == 1


def test_a_retry_topic_is_looked_up_under_its_kafka_name(
    ledger: Ledger, bootstrap: str, topic: str, group: str
) -> None:
    """Bounds and commits of a retry topic are looked up under Kafka's name, told under its own."""
    retry, kafka = f"%RETRY%{group}", name_on_kafka("RETRY", topic)
    queue = MessageQueue(retry, "main", 3)
    with running(make_bridge(ledger, bootstrap)):
        ledger.ask(retry_request(group, retry))
        ledger.await_route(retry, DELAYS)
        with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
            for _ in range(3):
                producer.send(kafka, b"message", partition=3).get(10)
        consumer = KafkaConsumer(
            bootstrap_servers=bootstrap, group_id=group, enable_auto_commit=False
        )
        consumer.commit({TopicPartition(kafka, 3): OffsetAndMetadata(2, "", -1)})
        consumer.close(autocommit=False)
        ledger.ask(Request(group, "offsets", retry, (queue,), None))
        ledger.await_that(lambda: ledger.offsets)
    assert ledger.offsets[0].queues == (QueueOffsets(queue, 0, 3, Position(0, 2), None),)


def test_a_retry_topic_and_its_deletion_keep_their_own_name(
    ledger: Ledger, bootstrap: str, topic: str, group: str
) -> None:
    """The bridge publishes a retry topic, and its deletion, under its own name."""
    kafka = name_on_kafka("RETRY", topic)
    ledger.make_topic(kafka, 3)
    with running(make_bridge(ledger, bootstrap, pattern=r"%RETRY%orders.*")):
        ledger.await_route(f"%RETRY%{group}", 3)
        ledger.admin.delete_topics([kafka])
        ledger.await_route(f"%RETRY%{group}", None)


def test_no_retry_topic_is_made_for_others(ledger: Ledger, bootstrap: str, topic: str) -> None:
    """Nobody's retry topic is made for another group, nor any by a bridge that is to make none."""
    retry, asked = f"%RETRY%{topic}", f"{topic}-asked"
    ledger.make_topic(asked, 1)
    for queues, group in ((1, "another"), (0, topic)):
        before = len(ledger.routes)
        with running(make_bridge(ledger, bootstrap, queues)):
            ledger.ask(retry_request(group, retry))
            ledger.ask(route_request(group, asked))
            ledger.await_route(asked, 1, after=before)
            # Answered behind the request for the retry topic, twice: that was looked at by then.
            ledger.ask(route_request(group, asked))
            ledger.await_route(asked, 1, after=before + 1)
    assert not [name for name in ledger.admin.list_topics() if topic in name and "RETRY" in name]


def test_a_topic_that_kafka_refuses_is_tried_again(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """The bridge logs and retries a topic that Kafka refuses, and makes another's at once."""
    # Kafka refuses a name that differs from an existing one by dots and underscores alone.
    in_the_way = f"_-RETRY.-{topic}"
    ledger.make_topic(in_the_way, 1)
    refused, made = f"%RETRY%{topic}", f"%RETRY%{topic}-made"
    with structlog.testing.capture_logs() as lines, running(make_bridge(ledger, bootstrap)):
        ledger.ask(retry_request(topic, refused))
        ledger.await_that(lambda: any(line["event"] == "retry_topic_failed" for line in lines))
        ledger.ask(retry_request(f"{topic}-made", made))
        ledger.await_route(made, DELAYS)
        ledger.admin.delete_topics([in_the_way])
        ledger.await_route(refused, DELAYS)
    told = next(line for line in lines if line["event"] == "retry_topic_failed")
    assert (told["group"], told["times"]) == (topic, 1)
    assert "collides" in told["error"]


def test_a_retry_topic_under_its_kafka_name_is_not_answered(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """The bridge does not answer for a retry topic under its Kafka name, and logs why."""
    kafka = f"_-RETRY_-{topic}"
    ledger.make_topic(kafka, 2)
    ledger.make_topic(topic, 1)
    with structlog.testing.capture_logs() as lines, running(make_bridge(ledger, bootstrap)):
        ledger.ask(route_request("g", kafka))
        ledger.ask(route_request("g", topic))
        ledger.await_route(topic, 1)
        ledger.await_that(lambda: any(line.get("topic") == kafka for line in lines))
    ledger.read_all()
    assert {change.topic for change in ledger.routes} == {topic}
    assert any(f"%RETRY%{topic}" in line.get("why", "") for line in lines)


class SlowCluster(NeverForgotten):
    """A cluster that makes no topic before the test lets it, and then all but the refused ones."""

    def __init__(self) -> None:
        self.let = Event()
        self.refused: set[str] = set()
        self.reason = "no"
        self.calls: list[dict[str, int]] = []
        self.limits: dict[str, MessageLimit] | None = None
        self.raised: list[dict[str, int]] = []
        self.looks = 0

    def create(self, topics: Mapping[str, int]) -> dict[str, str | None]:
        """Make topics."""
        self.calls.append(dict(topics))
        assert self.let.wait(30)
        return self._answer(topics)

    def names(self) -> list[str]:
        """Return the topics that were made."""
        return [topic for call in self.calls for topic in call if topic not in self.refused]

    def message_limits(self, topics: Sequence[str]) -> dict[str, MessageLimit] | None:
        """Return the limits; None: this cluster does not answer."""
        self.looks += 1
        if self.limits is None:
            return None
        return {topic: self.limits[topic] for topic in topics if topic in self.limits}

    def raise_message_limits(self, limits: Mapping[str, int]) -> dict[str, str | None]:
        """Raise limits."""
        self.raised.append(dict(limits))
        return self._answer(limits)

    def _answer(self, topics: Mapping[str, int]) -> dict[str, str | None]:
        return {topic: self.reason if topic in self.refused else None for topic in topics}


@pytest.fixture
def cluster() -> Iterator[SlowCluster]:
    """A slow cluster, let go at the end."""
    made = SlowCluster()
    yield made
    made.let.set()


def _until_calls(retries: RetryTopics, cluster: SlowCluster, count: int, now_ms: int) -> None:
    """Let the bridge's loop turn until so many calls have begun."""
    deadline = time.monotonic() + 30
    while len(cluster.calls) < count:
        assert time.monotonic() < deadline
        retries.work(now_ms=now_ms)


def test_the_loop_goes_on_while_topics_are_made(cluster: SlowCluster) -> None:
    """While topics are being made the loop goes on, and those wanted meanwhile go together."""
    retries = RetryTopics(cluster, retry_queue_nums=1, remove_after_ms=0)
    retries.want("a", "%RETRY%a")
    retries.work(now_ms=0)
    retries.want("b", "%RETRY%b")
    retries.want("c", "%RETRY%c")
    retries.want("c", "%RETRY%c")
    retries.work(now_ms=0)
    cluster.let.set()
    _until_calls(retries, cluster, 2, now_ms=0)
    retries.close()
    assert cluster.calls == [
        {"%RETRY%a": 18, "%DLQ%a": 1},
        {"%RETRY%b": 18, "%RETRY%c": 18, "%DLQ%b": 1, "%DLQ%c": 1},
    ]


def _until(retries: RetryTopics, holds: Callable[[], bool], now_ms: int) -> None:
    """Let the bridge's loop turn until something holds."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        retries.work(now_ms=now_ms)


def test_a_refused_dead_letter_topic_is_tried_with_growing_pauses(cluster: SlowCluster) -> None:
    """A refused DLQ is tried after 1, 2, 4, … 600 s, told once, and holds up no retry topic."""
    cluster.let.set()
    cluster.refused = {"%DLQ%a"}
    retries = RetryTopics(cluster, retry_queue_nums=1, remove_after_ms=0)
    retries.want("a", "%RETRY%a")
    begins = [0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1_023, 1_623, 2_223]
    with structlog.testing.capture_logs() as lines:
        for count, second in enumerate(begins, start=1):
            retries.work(now_ms=1_000 * second - 1)
            assert len(cluster.calls) == count - 1
            _until_calls(retries, cluster, count, 1_000 * second)
            # Nothing more is under way when another topic's turn has been taken.
            _until(retries, lambda: not retries.is_busy, 1_000 * second)
        cluster.refused = set()
        _until(retries, lambda: len(lines) == 3, 1_000 * 2_823)
    retries.close()
    assert cluster.calls == [{"%RETRY%a": 18, "%DLQ%a": 1}, *[{"%DLQ%a": 1}] * len(begins)]
    assert [(line["event"], line["topic"]) for line in lines] == [
        ("retry_topic_made", "%RETRY%a"),
        ("retry_topic_failed", "%DLQ%a"),
        ("retry_topic_made", "%DLQ%a"),
    ]
    assert (lines[1]["times"], lines[2]["refused"]) == (1, len(begins))


def test_another_reason_is_told(cluster: SlowCluster) -> None:
    """A topic that is refused for something else than before is in the log again."""
    cluster.let.set()
    cluster.refused = {"%RETRY%a"}
    retries = RetryTopics(cluster, retry_queue_nums=1, remove_after_ms=0)
    retries.want("a", "%RETRY%a")
    with structlog.testing.capture_logs() as lines:
        for second, reason, told in ((0, "no", 1), (1, "no", 1), (3, "never", 2)):
            cluster.reason = reason
            _until_calls(retries, cluster, len(cluster.calls) + 1, 1_000 * second)
            _until(retries, lambda: not retries.is_busy, 1_000 * second)
            assert len(lines) == told
    retries.close()
    assert [(line["times"], line["error"]) for line in lines] == [(1, "no"), (3, "never")]


def test_deleted_under_a_living_group(
    ledger: Ledger, bootstrap: str, topic: str, group: str
) -> None:
    """A member that has a message to send back asks for it again, and it is made again."""
    retry, kafka = f"%RETRY%{group}", name_on_kafka("RETRY", topic)
    with running(make_bridge(ledger, bootstrap)):
        ledger.ask(retry_request(group, retry))
        first = ledger.await_route(retry, DELAYS).route
        ledger.admin.delete_topics([kafka, name_on_kafka("DLQ", topic)])
        ledger.await_route(retry, None)
        before = len(ledger.routes)
        ledger.ask(retry_request(group, retry))
        second = ledger.await_route(retry, DELAYS, after=before).route
        assert name_on_kafka("DLQ", topic) in ledger.admin.list_topics()
    assert first is not None
    assert second is not None
    assert first.identity != second.identity


def test_big_messages_can_be_sent_back(
    ledger: Ledger, bootstrap: str, topic: str, group: str
) -> None:
    """What a group reads fits into its own topics, whichever is asked for first; none shrinks."""
    own = [name_on_kafka(prefix, topic) for prefix in ("RETRY", "DLQ")]
    names = [f"{topic}-{number}" for number in range(3)]
    for name, limit in zip(names, ("5000", "3000000", "4000000"), strict=True):
        configs = {"num_partitions": 1, "replication_factor": 1, "configs": {LIMIT: limit}}
        ledger.admin.create_topics({name: configs})
    with running(make_bridge(ledger, bootstrap)):
        ledger.ask(route_request(group, names[0]))
        ledger.ask(retry_request(group, f"%RETRY%{group}"))
        ledger.await_route(f"%RETRY%{group}", DELAYS)
        default = limits_of(ledger, *own)
        assert min(default) > 5_000 + HEADERS_MAX
        for name in (names[2], names[1]):
            ledger.ask(route_request(group, name))
            ledger.await_route(name, 1)
            ledger.await_that(lambda: limits_of(ledger, *own) == [4_000_000 + HEADERS_MAX] * 2)


def test_a_limit_that_is_refused(cluster: SlowCluster) -> None:
    """The bridge logs a refused limit once, and asks a silent cluster again after a pause."""
    cluster.let.set()
    retries = RetryTopics(cluster, retry_queue_nums=1, remove_after_ms=0)
    retries.note("a", "%RETRY%a")
    retries.note("a", "orders")
    with structlog.testing.capture_logs() as lines:
        _until(retries, lambda: cluster.looks == 1, 0)
        retries.work(now_ms=9_000)
        cluster.limits = {
            "orders": MessageLimit(2_000_000, is_own=True),
            "%RETRY%a": MessageLimit(1_000_000, is_own=False),
            "%DLQ%a": MessageLimit(9_000_000, is_own=True),
        }
        cluster.refused = {"%RETRY%a"}
        _until(retries, lambda: len(lines) == 1, 30_000)
        retries.note("a", "orders")
        _until(retries, lambda: cluster.looks == 3, 30_000)
        cluster.refused = set()
        retries.note("a", "orders")
        _until(retries, lambda: len(lines) == 2, 30_000)
    retries.close()
    assert [(line["event"], line["topic"]) for line in lines] == [
        ("message_limit_refused", "%RETRY%a"),
        ("message_limit_raised", "%RETRY%a"),
    ]
    assert cluster.raised == [{"%RETRY%a": 2_000_000 + HEADERS_MAX}] * 3


def test_topics_that_no_broker_knows_yet(cluster: SlowCluster) -> None:
    """What was just made is looked for three times more; what nobody made once and no more."""
    cluster.let.set()
    cluster.limits = {"orders": MessageLimit(2_000_000, is_own=True)}
    retries = RetryTopics(cluster, retry_queue_nums=1, remove_after_ms=0)
    retries.note("a", "%RETRY%a")
    retries.note("a", "orders")
    for now_ms in (0, 100_000, 200_000):
        _until(retries, lambda: cluster.looks == 1, now_ms)
        _until(retries, lambda: not retries.is_busy, now_ms)
    assert cluster.looks == 1
    retries.want("a", "%RETRY%a")
    for second in range(300, 400):
        retries.work(now_ms=1_000 * second)
        _until(retries, lambda: not retries.is_busy, 1_000 * second)
    assert (len(cluster.calls), cluster.looks) == (1, 1 + 4)
    retries.close()
    assert cluster.raised == []


def test_groups_that_are_silent_for_longest_are_forgotten() -> None:
    """A bridge that runs for years remembers so many groups and no more."""
    book = LimitBook()
    for number in range(GROUPS_MAX + 1):
        book.note(f"group-{number}", f"%RETRY%group-{number}")
        book.note(f"group-{number}", "orders")
    due = book.take_due(now_ms=0)
    assert len(due) == GROUPS_MAX
    assert "group-0" not in due
