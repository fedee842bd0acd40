"""Broadcasting on a real broker: each member reads everything, and goes on where it was."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import enumerate as threads
from typing import TYPE_CHECKING, Any, Protocol

import orjson
import pytest
from fairlead_client import (
    BroadcastConsumer,
    BroadcastPushConsumer,
    ConsumeContext,
    ConsumeResult,
    FairleadClientError,
    Message,
    OffsetFileError,
    SettingsError,
    StartFailedError,
    Subscription,
)
from fairlead_client.consume.pull.listener import Listener
from fairlead_client.metrics import ClientMetrics, Families
from fairlead_client.model import Queue
from fairlead_client.session.clock import wall_ms
from kafka import KafkaAdminClient, KafkaProducer
from prometheus_client import CollectorRegistry

if TYPE_CHECKING:
    from tests.broker.conftest import ScriptedEngine

WAIT_SECONDS = 30
Made = Callable[..., BroadcastConsumer]


class SetRoute(Protocol):
    """Writes routes."""

    def __call__(self, topic: str, queues: int | None, identity: str = "one") -> None:
        """Write the route of a topic."""


@pytest.fixture
def set_route(engine: "ScriptedEngine") -> Iterator[SetRoute]:
    """Write the route of a topic: so many queues in one of its lives; None: the topic is gone."""
    producer = KafkaProducer(bootstrap_servers=engine.bootstrap)

    def write(topic: str, queues: int | None, identity: str = "one") -> None:
        broker = {
            "broker_name": "main",
            "cluster": "main",
            "perm": 6,
            "read_queue_nums": queues,
            "write_queue_nums": queues,
            "addresses": {"0": engine.bootstrap},
            "leaders": None,
            "zones": None,
        }
        route = {
            "v": 1,
            "kind": "route",
            "topic": topic,
            "identity": identity,
            "order_topic_conf": None,
            "brokers": [broker],
        }
        value = None if queues is None else orjson.dumps(route)
        producer.send(f"{engine.prefix}routes", value, key=topic.encode()).get(WAIT_SECONDS)

    yield write
    producer.close()


@pytest.fixture
def member(engine: "ScriptedEngine", data_topic: str, tmp_path: Path) -> Made:
    """Make a member of the group orders, which reads the test's topic from its beginning."""

    def make(client_id: str, **chosen: Any) -> BroadcastConsumer:
        settings = {"topics": [data_topic], "consume_from": "first_offset", **chosen}
        return BroadcastConsumer(
            bootstrap=engine.bootstrap,
            prefix=engine.prefix,
            group="orders",
            client_id=client_id,
            offsets_folder=tmp_path,
            commit_ms=100,
            **settings,
        )

    return make


def read(consumer: BroadcastConsumer, most: int) -> list[tuple[int, int]]:
    """Return partition and offset of so many messages, all processed."""
    found: list[tuple[int, int]] = []
    deadline = time.monotonic() + WAIT_SECONDS
    while len(found) < most:
        assert time.monotonic() < deadline, f"only {len(found)} messages"
        message = consumer.poll(timeout_ms=200)
        if message is not None:
            found.append((message.partition, message.offset))
    return found


EVERYTHING = [(partition, offset) for partition in range(2) for offset in range(20)]


def test_everybody_reads_everything(
    engine: "ScriptedEngine",
    member: Made,
    data_topic: str,
    set_route: SetRoute,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Two members read all messages of all queues, each; metrics and log say which they read."""
    caplog.set_level(logging.INFO, "fairlead_client")
    registry = CollectorRegistry()
    metrics = ClientMetrics("orders", Families(registry))
    set_route(data_topic, 2)
    with member("a", observer=metrics) as one, member("b") as other:
        assert sorted(read(one, 40)) == EVERYTHING
        assert sorted(read(other, 40)) == EVERYTHING
        queues = {Queue(data_topic, "main", number) for number in range(2)}
        assert set(one.assigned) == set(other.assigned) == queues
        owned = ("fairlead_client_owned_queues", {"group": "orders"})
        assert registry.get_sample_value(*owned) == 2
    assert registry.get_sample_value(*owned) == 0
    lines = [text for text in caplog.messages if text.startswith("rebalanced result changed.")]
    ids = [line.split("clientId=")[1].split(", rebalance")[0] for line in lines]
    assert sorted(ids) == ["a, mqAllSize=2", "b, mqAllSize=2"]
    heartbeats = [engine.heartbeat(client_id) for client_id in ("a", "b")]
    assert {heartbeat["message_model"] for heartbeat in heartbeats} == {"broadcasting"}


def test_each_listener_gets_all_messages_once_over_a_restart(
    engine: "ScriptedEngine", data_topic: str, set_route: SetRoute, tmp_path: Path
) -> None:
    """Each member's listener is given all messages, and after a restart those that were not."""
    set_route(data_topic, 2)
    taken: dict[str, SimpleQueue[tuple[int, int]]] = {"a": SimpleQueue(), "b": SimpleQueue()}

    def member(client_id: str) -> BroadcastPushConsumer:
        def listen(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
            del context
            for message in messages:
                taken[client_id].put((message.partition, message.offset))
            return ConsumeResult.CONSUME_SUCCESS

        return BroadcastPushConsumer(
            bootstrap=engine.bootstrap,
            prefix=engine.prefix,
            group="orders",
            client_id=client_id,
            topics=[data_topic],
            consume_from="first_offset",
            offsets_folder=tmp_path,
            listener=listen,
        )

    with member("a"), member("b"):
        for queue in taken.values():
            assert sorted(queue.get(timeout=WAIT_SECONDS) for _ in range(40)) == EVERYTHING
    beat = engine.heartbeat("a")
    assert beat["message_model"] == "broadcasting"
    assert [entry["topic"] for entry in beat["subscriptions"]] == [data_topic]
    producer = KafkaProducer(bootstrap_servers=engine.bootstrap)
    producer.send(data_topic, b"more", partition=1).get(WAIT_SECONDS)
    producer.close()
    with member("a"):
        assert taken["a"].get(timeout=WAIT_SECONDS) == (1, 20)
    assert taken["a"].empty()


def test_without_a_timestamp_reading_begins_half_an_hour_ago(
    engine: "ScriptedEngine", member: Made, set_route: SetRoute
) -> None:
    """Who begins by time and names none begins half an hour before it started, as with RocketMQ."""
    topic = f"{engine.prefix}dated"
    admin = KafkaAdminClient(bootstrap_servers=engine.bootstrap)
    admin.create_topics({topic: {"num_partitions": 1}}, wait_for_metadata=True)
    admin.close()
    begins_ms = wall_ms() - 30 * 60_000
    producer = KafkaProducer(bootstrap_servers=engine.bootstrap)
    # The test itself takes less than the minute that is between them.
    for timestamp_ms in (begins_ms - 120_000, begins_ms - 1, begins_ms + 60_000, wall_ms()):
        producer.send(topic, b"dated", timestamp_ms=timestamp_ms).get(WAIT_SECONDS)
    producer.close()
    set_route(topic, 1)
    with member("a", topics=[topic], consume_from="timestamp") as consumer:
        assert read(consumer, 2) == [(0, 2), (0, 3)]
    named = {"consume_from": "timestamp", "consume_timestamp_ms": begins_ms - 1}
    with member("b", topics=[topic], **named) as consumer:
        assert read(consumer, 3) == [(0, 1), (0, 2), (0, 3)]


def test_closed_by_its_listener(
    engine: "ScriptedEngine", data_topic: str, set_route: SetRoute, tmp_path: Path
) -> None:
    """A listener may close its own consumer: what it has in hand counts, and everything ends."""
    set_route(data_topic, 1)
    before = set(threads())
    took: SimpleQueue[int] = SimpleQueue()

    def listen(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        del context
        one.close()
        # It leaves at once, in front of what is in these hands, and may close again.
        assert one.wait(WAIT_SECONDS * 1_000)
        one.close()
        took.put(messages[0].offset)
        return ConsumeResult.CONSUME_SUCCESS

    def make(listener: Listener) -> BroadcastPushConsumer:
        return BroadcastPushConsumer(
            bootstrap=engine.bootstrap,
            prefix=engine.prefix,
            group="orders",
            client_id="a",
            topics=[data_topic],
            consume_from="first_offset",
            consume_threads=1,
            offsets_folder=tmp_path,
            listener=listener,
        )

    one = make(listen)
    one.start()
    assert one.wait(WAIT_SECONDS * 1_000)
    _await(lambda: not [thread for thread in set(threads()) - before if thread.is_alive()])
    # A request that was tried again is no failure of the close.
    assert not isinstance(one.last_error, FairleadClientError)
    # What it was given before the queue had stopped was finished too, and is in the file.
    first = [took.get_nowait() for _ in range(took.qsize())]
    assert first == list(range(len(first)))
    assert first
    producer = KafkaProducer(bootstrap_servers=engine.bootstrap)
    producer.send(data_topic, b"more", partition=0).get(WAIT_SECONDS)
    producer.close()
    went_on: SimpleQueue[int] = SimpleQueue()

    def note(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        del context
        went_on.put(messages[0].offset)
        return ConsumeResult.CONSUME_SUCCESS

    with make(note):
        second = [went_on.get(timeout=WAIT_SECONDS) for _ in range(21 - len(first))]
    assert second == list(range(len(first), 21))


def test_goes_on_after_a_restart(member: Made, data_topic: str, set_route: SetRoute) -> None:
    """A member that comes back goes on behind what it has processed, the one in hand included."""
    set_route(data_topic, 2)
    with member("a") as consumer:
        first = read(consumer, 15)
    with member("a", consume_from="last_offset") as consumer:
        second = read(consumer, 25)
    assert sorted([*first, *second]) == EVERYTHING


def test_unfinished_messages_come_again(member: Made, data_topic: str, set_route: SetRoute) -> None:
    """A message in hand when a member closes without having finished it is read again."""
    set_route(data_topic, 2)
    consumer = member("a")
    consumer.start()
    *_, unfinished = read(consumer, 15)
    consumer.close()
    with member("a") as again:
        assert unfinished in read(again, 26)


def test_a_new_queue_and_a_new_life(
    member: Made,
    data_topic: str,
    set_route: SetRoute,
    grow: Callable[[str, int], None],
    bootstrap: str,
) -> None:
    """A queue that comes later is read whole, and so is a topic that is made again."""
    set_route(data_topic, 2)
    with member("a") as consumer:
        read(consumer, 40)
        grow(data_topic, 3)
        set_route(data_topic, 3)
        assert read(consumer, 1) == [(2, 0)]
        admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        admin.delete_topics([data_topic])
        set_route(data_topic, None)
        _await(lambda: not consumer.assigned)
        admin.create_topics({data_topic: {"num_partitions": 1}}, wait_for_metadata=True)
        admin.close()
        producer = KafkaProducer(bootstrap_servers=bootstrap)
        for _ in range(3):
            producer.send(data_topic, b"of the second life").get(WAIT_SECONDS)
        producer.close()
        set_route(data_topic, 1, "two")
        assert read(consumer, 3) == [(0, 0), (0, 1), (0, 2)]


def test_a_lost_route_costs_no_offset(member: Made, data_topic: str, set_route: SetRoute) -> None:
    """A route that is lost for a while costs no offset, also over a restart without it."""
    set_route(data_topic, 2)
    with member("a") as consumer:
        first = read(consumer, 15)
        set_route(data_topic, None)
        _await(lambda: not set(consumer.assigned))
        # Finishes the last one, whose queue has waited for it.
        assert consumer.poll(timeout_ms=0) is None
    with member("a", consume_from="last_offset") as consumer:
        set_route(data_topic, 2)
        second = read(consumer, 25)
    assert sorted([*first, *second]) == EVERYTHING


def test_a_new_subscription_is_read(member: Made, data_topic: str, set_route: SetRoute) -> None:
    """A member reads a topic from when it subscribes to it."""
    set_route(data_topic, 2)
    with member("a", topics=["another"]) as consumer:
        assert consumer.poll(timeout_ms=300) is None
        consumer.subscribe([data_topic])
        assert sorted(read(consumer, 40)) == EVERYTHING


def test_a_second_process_is_refused(member: Made, data_topic: str, set_route: SetRoute) -> None:
    """A second consumer of the same client id is refused, and works when the first has ended."""
    set_route(data_topic, 2)
    with member("a") as consumer:
        second = member("a")
        with pytest.raises(StartFailedError) as caught:
            second.start()
        assert isinstance(caught.value.__cause__, OffsetFileError)
        assert second.state == "closed"
        read(consumer, 1)
    with member("a") as consumer:
        read(consumer, 1)


def test_other_tags_are_skipped_and_the_offsets_move_on(
    member: Made, data_topic: str, set_route: SetRoute, write_more: Callable[..., None]
) -> None:
    """Messages of other tags are passed over, and the local offsets with them."""
    set_route(data_topic, 1)
    for tag, count in ((b"B", 2), (b"A", 1), (b"B", 2)):
        write_more(0, count, ("TAGS", tag))
    wanted = [Subscription(data_topic, "A")]
    queue = Queue(data_topic, "main", 0)
    with member("a", topics=wanted) as consumer:
        assert read(consumer, 1) == [(0, 22)]
        assert consumer.poll(500) is None
    with member("a") as consumer:
        _await(lambda: consumer.still_mine(queue) is not None)
        assert consumer.poll(500) is None
        write_more(0, 1)
        assert read(consumer, 1) == [(0, 25)]


def test_a_broken_file_is_told(
    member: Made, data_topic: str, set_route: SetRoute, tmp_path: Path
) -> None:
    """After a broken file a member goes on with the version before it, and says so."""
    set_route(data_topic, 2)
    with member("a") as consumer:
        read(consumer, 5)
    path = tmp_path / "a" / "orders.json"
    path.write_bytes(path.read_bytes()[:-9])
    with member("a") as consumer:
        assert isinstance(consumer.last_error, OffsetFileError)
        assert len(read(consumer, 35)) == 35


@pytest.mark.parametrize(
    "chosen, field",
    [
        ({"client_id": None}, "client_id"),
        ({"commit_offsets": True}, "commit_offsets"),
        ({"retry_topic": True}, "retry_topic"),
        ({"topics": ["%RETRY%g"]}, "topics"),
        ({"topics": [Subscription("t", "a > 5", "sql92")]}, "topics"),
    ],
)
def test_what_a_broadcast_member_cannot_use_is_refused_by_name(
    chosen: dict[str, Any], field: str
) -> None:
    """What makes no sense for a member that shares nothing is refused by its name."""
    settings = {"bootstrap": "h:1", "group": "g", "topics": ["t"], "client_id": "c", **chosen}
    with pytest.raises(SettingsError) as caught:
        BroadcastConsumer(**settings)
    assert caught.value.field == field


def _await(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
