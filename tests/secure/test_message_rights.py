"""Rights on the application's topics and its group: whoever meets the lack of one names it."""

import contextlib
import re
from collections.abc import Iterator
from typing import Any, Final

import orjson
import pytest
from fairlead_client import (
    Epoch,
    Message,
    NotAllowedError,
    OutgoingMessage,
    Producer,
    Queue,
    SendBackError,
    SendFailedError,
)
from fairlead_client.consume.broadcast.queue_bounds import QueueBounds
from fairlead_client.consume.pull.kafka_source import KafkaSource
from fairlead_client.consume.pull.message_source import PullResult
from fairlead_client.consume.retry.send_back import KafkaFailedMessages
from fairlead_client.session.session import Granted
from fairlead_client.session.topic_names import retry_topic
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.connection import connect, data_options
from fairlead_client.transport.granted_fetch import GrantedFetch
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from fairlead.bridges.kafka.snapshot import TopicSeen, TopicUnclear
from fairlead.bridges.kafka.topic_maker import TopicMaker
from fairlead.core.model import MessageQueue
from fairlead.kafka.acls import Role
from fairlead.serve.offset_poller import PolledTopics
from tests.fixtures.secure_kafka import Right, SecureKafka
from tests.kit.awaiting import await_seen
from tests.secure.domain import Domain, domain_of

pytestmark = pytest.mark.broker

DELAYS: Final = 18


@pytest.fixture(scope="module")
def domain(secure_kafka: SecureKafka) -> Iterator[Domain]:
    """A domain with the group's own topics, a message in each, and a route."""
    with domain_of(secure_kafka, "messages") as made, contextlib.closing(made.broker.admin()) as on:
        on.create_topics(
            {made.retries: {"num_partitions": DELAYS}, made.dead_letters: {"num_partitions": 1}},
            wait_for_metadata=True,
        )
        route = {
            "v": 1, "kind": "route", "topic": made.messages, "identity": "one",
            "order_topic_conf": None,
            "brokers": [{
                "broker_name": "main", "cluster": "main", "perm": 6, "read_queue_nums": 1,
                "write_queue_nums": 1, "addresses": {"0": "127.0.0.1:9092"}, "leaders": None,
                "zones": None,
            }],
        }  # fmt: skip
        with contextlib.closing(KafkaProducer(bootstrap_servers=made.broker.plain)) as producer:
            for topic in (made.messages, made.retries, made.dead_letters):
                producer.send(topic, b"there", partition=0)
            routes = made.names.name("routes")
            producer.send(routes, orjson.dumps(route), key=made.messages.encode(), partition=0)
            producer.flush()
        yield made


@contextlib.contextmanager
def without(domain: Domain, role: Role, operation: str, kind: str, name: str) -> Iterator[str]:
    """Take a right away; yield the words by which the process must name it."""
    right = Right(domain.user(role), operation, kind, name)
    assert right in domain.rights(role)
    domain.broker.forbid(right)
    try:
        yield f"{operation} on {kind} {re.escape(name)}.*--allow-principal 'User:{right.user}'"
    finally:
        domain.broker.allow([right])


def _settings(domain: Domain) -> Settings:
    return Settings(
        **domain.client(), group=domain.group, topics=[domain.messages], retry_topic=True
    )


def _queues(domain: Domain) -> tuple[Queue, Queue]:
    """The first queue of the messages, and that of the retry topic."""
    return Queue(domain.messages, "main", 0), Queue(retry_topic(domain.group), "main", 0)


def _pulled(source: KafkaSource, queue: Queue, others: tuple[Queue, ...]) -> PullResult:
    """Pull several queues until one has a report."""
    source.follow((queue, *others))
    found: dict[Queue, PullResult] = {}

    def pull() -> bool:
        asked = dict.fromkeys({queue, *others} - found.keys(), 0)
        told = source.pull(asked, 200)
        found.update({each: result for each, result in told.items() if _says(result)})
        return found.keys() >= {queue, *others}

    await_seen(pull, what="answer for each queue")
    assert all(found[other].records for other in others)
    return found[queue]


def _says(result: PullResult) -> bool:
    return bool(result.records) or result.error is not None


@pytest.mark.parametrize("still", ["hidden", "seen"])
@pytest.mark.parametrize("which", [0, 1], ids=["messages", "retries"])
def test_a_topic_that_may_not_be_read_is_named_and_others_are_read(
    domain: Domain, which: int, still: str
) -> None:
    """Whether the topic can be seen at all or not; and it is read once that is allowed again."""
    queues = _queues(domain)
    queue, other = queues[which], queues[1 - which]
    name = (domain.messages, domain.retries)[which]
    seen = Right(domain.user(Role.CLIENT), "Describe", "topic", name)
    source = KafkaSource(_settings(domain), "rights")
    with contextlib.closing(source), contextlib.ExitStack() as stack:
        if still == "seen":
            domain.broker.allow([seen])
            stack.callback(domain.broker.forbid, seen)
        elif which == 1:
            # Who may write to a topic sees it too.
            stack.enter_context(without(domain, Role.CLIENT, "Write", "topic", name))
        with without(domain, Role.CLIENT, "Read", "topic", name) as words:
            error = _pulled(source, queue, (other,)).error
            assert isinstance(error, NotAllowedError)
            assert re.search(words, str(error))
        await_seen(
            lambda: source.pull({queue: 0}, 200).get(queue),
            lambda result: result is not None and result.records,
            what="record",
        )


@pytest.mark.parametrize("still", ["hidden", "seen"])
def test_a_consumer_that_may_not_read_a_topic_is_told_so(domain: Domain, still: str) -> None:
    """By the poll, which reads on once that is allowed."""
    settings, partition = _settings(domain), TopicPartition(domain.messages, 0)
    fetch = GrantedFetch(settings, lambda _queue: Granted(), lambda _place: None, 1_000)
    seen = Right(domain.user(Role.CLIENT), "Describe", "topic", domain.messages)
    with contextlib.ExitStack() as stack:
        if still == "seen":
            domain.broker.allow([seen])
            stack.callback(domain.broker.forbid, seen)
        options = data_options(settings, "rights")
        with without(domain, Role.CLIENT, "Read", "topic", domain.messages) as words:
            kafka = connect(KafkaConsumer, options, [domain.messages])
            stack.enter_context(contextlib.closing(kafka))
            kafka.assign([partition])
            kafka.seek(partition, 0)
            with pytest.raises(NotAllowedError, match=words):
                await_seen(lambda: fetch.poll(kafka, 200).records, what="record")
            if still == "hidden":
                # Where a member works out itself where to begin; its bounds are seen with Describe.
                with pytest.raises(NotAllowedError, match=words):
                    QueueBounds(settings, "bounds").look_up([_queues(domain)[0]])

        def read() -> Any:
            with contextlib.suppress(NotAllowedError):
                return fetch.poll(kafka, 200).records.get(partition)
            return None

        await_seen(read, what="record")


@pytest.mark.parametrize("delay", [1, -1], ids=["retry", "dead-letter"])
def test_a_message_that_cannot_be_sent_back_says_which_right_is_missing(
    domain: Domain, delay: int
) -> None:
    """And it is sent back once that is allowed."""
    failed = Message(_queues(domain)[0], 0, None, b"again", (), 1, Epoch(1, 1))
    topic = domain.retries if delay > 0 else domain.dead_letters
    kept = KafkaFailedMessages(_settings(domain), "rights")
    with contextlib.closing(kept):
        with (
            without(domain, Role.CLIENT, "Write", "topic", topic) as words,
            pytest.raises(SendBackError, match=f"clients need {words}") as alone,
        ):
            kept.send_back(failed, 1, delay)
        assert isinstance(alone.value.__cause__, NotAllowedError)
        kept.send_back(failed, 1, delay)


def test_a_producer_names_the_right_that_it_lacks(domain: Domain) -> None:
    """Whether the message was on its way already or its topic is looked up first."""
    message = OutgoingMessage(domain.messages, b"value")
    write = (Role.PRODUCER, "Write", "topic", domain.messages)
    with Producer(**domain.client(Role.PRODUCER)) as producer:
        with (
            without(domain, *write) as words,
            pytest.raises(SendFailedError, match=f"producers need {words}"),
        ):
            producer.send(message)
        producer.send(message)
        with (
            without(domain, *write) as words,
            pytest.raises(SendFailedError, match=f"producers need {words}"),
        ):
            producer.send(message)


def test_a_producer_that_may_not_make_a_topic_says_so(domain: Domain) -> None:
    """Create on it is no right that each producer has."""
    with contextlib.closing(KafkaProducer(bootstrap_servers=domain.broker.plain)) as plain:
        default = {
            "v": 1, "kind": "route", "topic": "TBW102", "identity": "default",
            "order_topic_conf": None,
            "brokers": [{
                "broker_name": "main", "cluster": "main", "perm": 7, "read_queue_nums": 1,
                "write_queue_nums": 1, "addresses": {"0": "127.0.0.1:9092"}, "leaders": None,
                "zones": None,
            }],
        }  # fmt: skip
        routes = domain.names.name("routes")
        plain.send(routes, orjson.dumps(default), key=b"TBW102", partition=0).get(30)
    new = f"{domain.messages}-new"
    with (
        Producer(**domain.client(Role.PRODUCER), create_topics=True) as producer,
        pytest.raises(SendFailedError, match=f"producers need Create on topic {new}"),
    ):
        producer.send(OutgoingMessage(new, b"value"), timeout_ms=6_000)


@pytest.fixture
def data(domain: Domain, request: pytest.FixtureRequest) -> Iterator[TopicMaker]:
    """The data cluster as the user of the test's role sees it; the bridge's without one."""
    role = getattr(request, "param", Role.BRIDGE)
    cluster = TopicMaker(domain.broker.secure, timeout_ms=5_000, options=domain.security(role))
    with contextlib.closing(cluster):
        yield cluster


@pytest.mark.parametrize("which", [0, 1], ids=["messages", "retries"])
def test_a_bridge_that_may_not_see_a_topic_names_the_right(
    domain: Domain, data: TopicMaker, which: int
) -> None:
    """Other topics are seen beside it."""
    names = [queue.topic for queue in _queues(domain)]
    hidden = (domain.messages, domain.retries)[which]
    with contextlib.ExitStack() as stack:
        if which == 1:
            # Who may delete a topic sees it too.
            stack.enter_context(without(domain, Role.BRIDGE, "Delete", "topic", hidden))
        words = stack.enter_context(without(domain, Role.BRIDGE, "Describe", "topic", hidden))
        looks = data.look_at(names).looks
        unclear, seen = looks[which], looks[1 - which]
        assert isinstance(seen, TopicSeen)
        assert isinstance(unclear, TopicUnclear)
        assert re.search(words, unclear.why)
    assert isinstance(data.look_at(names).looks[which], TopicSeen)


@pytest.mark.parametrize("own", ["retries", "dead_letters"])
def test_a_bridge_that_may_not_make_or_set_topics_names_the_right(
    domain: Domain, data: TopicMaker, own: str
) -> None:
    """Of each topic for itself: what is allowed is done."""
    name: str = getattr(domain, own)
    topic = f"%{'RETRY' if own == 'retries' else 'DLQ'}%{domain.group}"
    with without(domain, Role.BRIDGE, "Delete", "topic", name) as words:
        assert re.search(words, data.delete([topic])[topic] or "")
    assert data.delete([topic]) == {topic: None}
    with contextlib.closing(domain.broker.admin()) as admin:
        await_seen(lambda: name not in admin.list_topics(), what="end of the topic")
    queues = DELAYS if own == "retries" else 1
    with without(domain, Role.BRIDGE, "Create", "topic", name) as words:
        assert re.search(words, data.create({topic: queues})[topic] or "")
    assert data.create({topic: queues}) == {topic: None}
    with without(domain, Role.BRIDGE, "AlterConfigs", "topic", name) as words:
        assert re.search(words, data.raise_message_limits({topic: 2_000_000})[topic] or "")
    assert data.raise_message_limits({topic: 2_000_000}) == {topic: None}
    await_seen(
        lambda: data.message_limits([topic, domain.messages]) or {},
        lambda known: known.keys() == {topic, domain.messages},
        what="limits of both topics",
    )


@pytest.mark.parametrize("which", ["messages", "retries", "dead_letters"])
def test_settings_that_a_bridge_may_not_see_are_named(
    domain: Domain, data: TopicMaker, which: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The limits of the other topics are known all the same."""
    name: str = getattr(domain, which)
    topics = [domain.messages, f"%RETRY%{domain.group}", f"%DLQ%{domain.group}"]
    hidden = topics[("messages", "retries", "dead_letters").index(which)]
    right = Right(domain.user(Role.BRIDGE), "AlterConfigs", "topic", name)
    with contextlib.ExitStack() as stack:
        if right in domain.rights(Role.BRIDGE):
            # It implies the other one.
            stack.enter_context(without(domain, Role.BRIDGE, "AlterConfigs", "topic", name))
        words = stack.enter_context(without(domain, Role.BRIDGE, "DescribeConfigs", "topic", name))
        assert (data.message_limits(topics) or {}).keys() == {*topics} - {hidden}
        assert re.search(words, capfd.readouterr().err)


@pytest.mark.parametrize(
    "data", [Role.BRIDGE, Role.READER], ids=["bridge", "reader"], indirect=True
)
def test_commits_that_may_not_be_seen_are_named(
    domain: Domain, data: TopicMaker, capfd: pytest.CaptureFixture[str], request: Any
) -> None:
    """Of the group: the bridge and whoever reads need Describe on it."""
    role: Role = request.node.callspec.params["data"]
    with without(domain, role, "Describe", "group", domain.group) as words:
        assert data.committed(domain.group, domain.messages, [0]) == {}
        assert re.search(words, capfd.readouterr().err)
        assert data.native_group(domain.group) is None
        assert data.committed_topics(domain.group) is None
        assert len(re.findall(words, capfd.readouterr().err)) == 2
    # At first no broker knows yet that it coordinates the group.
    await_seen(lambda: data.committed(domain.group, domain.messages, [0]), what="answer")


@pytest.mark.parametrize("data", [Role.READER], ids=["reader"], indirect=True)
def test_a_view_that_may_not_see_a_topic_names_the_right(domain: Domain, data: TopicMaker) -> None:
    """The lag of its groups is not known then, and it says why."""
    polled = PolledTopics(data)
    with without(domain, Role.READER, "Describe", "topic", domain.messages) as words:
        polled.read_ends([MessageQueue(domain.messages, "main", 0)])
    assert re.search(words, polled.unclear[domain.messages])


@pytest.mark.parametrize("data", [Role.READER], ids=["reader"], indirect=True)
def test_a_commit_for_a_group_without_read_on_it_is_named(domain: Domain, data: TopicMaker) -> None:
    """`fairlead release` and `adopt` commit; a reader's rights are not enough for that."""
    from fairlead.bridges.kafka.committed import Committed

    told = data.commit(domain.group, domain.messages, {0: Committed(1, "")})
    assert f"lacks Read on group {domain.group}" in (told[0] or "")
