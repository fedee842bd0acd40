"""The real job, bridge and client: a pull that stands still, and members that read everything."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from fairlead_client import (
    BroadcastPushConsumer,
    ConsumeContext,
    Consumer,
    ConsumeResult,
    FairleadClientError,
    Message,
    PushConsumer,
)
from fairlead_client.consume.pull.kafka_source import KafkaSource
from fairlead_client.consume.pull.message_source import PullResult
from fairlead_client.model import Queue
from fairlead_client.settings.client_settings import Settings
from kafka.admin import NewPartitions

from fairlead.core.records import RuleSet
from fairlead.wire.control_records import rule_key
from fairlead.wire.encode import encode_rule
from fairlead.wire.partition import partition_of_group
from tests.kit.kafka_log import SHARDS, body_of
from tests.kit.live_system import BridgedSystem, bridged
from tests.kit.scrape import await_metric

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka

QUEUES, MESSAGES, MORE = 2, 10, 5
WAIT_SECONDS = 60
IDLE_MS = 5_000
Taken = SimpleQueue[tuple[int, int]]


@pytest.fixture(scope="module")
def system(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[BridgedSystem]:
    """One run of job and bridge for both tests, and a topic of two queues."""
    folder = tmp_path_factory.mktemp("job")
    with bridged(
        spark_of_the_run, kafka.bootstrap, folder, queues=QUEUES, messages=MESSAGES
    ) as found:
        yield found


def _listener(taken: Taken) -> Callable[[Sequence[Message], ConsumeContext], ConsumeResult]:
    def listen(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        del context
        for message in messages:
            taken.put((message.partition, message.offset))
        return ConsumeResult.CONSUME_SUCCESS

    return listen


def _take(taken: Taken, count: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    while len(found) < count:
        try:
            found.append(taken.get(timeout=WAIT_SECONDS))
        except Empty:
            pytest.fail(f"only {sorted(found)} came")
    return sorted(found)


def _places(partitions: Collection[int], first: int, end: int) -> list[tuple[int, int]]:
    return [(partition, offset) for partition in partitions for offset in range(first, end)]


class StandingSource(KafkaSource):
    """Kafka, with a pull that does not return while it is not let."""

    let = Event()

    def pull(
        self, offsets: Mapping[Queue, int], wait_ms: int, most: int | None = None
    ) -> Mapping[Queue, PullResult]:
        """Pull when that is let."""
        assert self.let.wait(WAIT_SECONDS)
        return super().pull(offsets, wait_ms, most)


def _idle(group: str) -> "Callable[[ConsumerRecord], bool]":
    def wanted(record: "ConsumerRecord") -> bool:
        body = body_of(record)
        return body.get("group") == group and "pull_idle" in body["triggers"]

    return wanted


@pytest.mark.slow
def test_a_pull_that_stands_still(system: BridgedSystem) -> None:
    """The engine drops its queues and adds them to the same client, with an alarm; it reads on."""
    group, taken, source_of = "standing", Taken(), {**system.client, "group": "standing"}
    rule = RuleSet(group, "timing", (), {"pull_max_idle_ms": IDLE_MS}, "alice")
    shard = partition_of_group(group, SHARDS)
    system.log.append("control", encode_rule(rule), rule_key(group, "timing", ()), shard)
    source = StandingSource(Settings(**source_of), "standing")
    source.let.set()
    with PushConsumer(**source_of, listener=_listener(taken), message_source=source) as consumer:
        assert _take(taken, QUEUES * MESSAGES) == _places(range(QUEUES), 0, MESSAGES)
        source.let.clear()
        for partition in range(QUEUES):
            system.write(partition, MORE)
        found = body_of(system.log.await_record("decisions", _idle(group)))
        idle = [cause for cause in found["cause"] if cause["kind"] == "pull_idle"]
        assert {cause["client_id"] for cause in idle} == {consumer.client_id}
        assert "pull_idle" in found["alarms"]
        for cause in idle:
            moves = [move for move in found["moves"] if move["queue"] == cause["queue"]]
            dropped, gated = moves
            assert (dropped["stage"], gated["stage"]) == ("dropped", "gated")
            assert gated["client_id"] == dropped["client_id"] == consumer.client_id
            assert gated["epoch"] == found["epoch"] > dropped["epoch"]
        source.let.set()
        late = _places(range(QUEUES), MESSAGES, MESSAGES + MORE)
        # What had been pulled by then was handed out, and not again under the new grant.
        assert _take(taken, QUEUES * MORE) == late
        # A request that was tried again is no failure of the handover.
        assert not isinstance(consumer.last_error, FairleadClientError)
        await_metric(
            system.settings.metrics,
            lambda seen: seen.value("fairlead_pull_idle_total") >= len(idle),
            system.log.check,
        )
    assert taken.empty()
    assert system.broken() == []


@pytest.mark.slow
def test_a_broadcast_group_reads_all_beside_a_sharing_one(
    system: BridgedSystem, tmp_path: Path
) -> None:
    """Each member reads every queue, also one that is added; the other group shares them."""
    begun = {number: _end(system, number) for number in range(QUEUES)}
    everything = sorted((number, each) for number, end in begun.items() for each in range(end))
    taken = {name: Taken() for name in ("a", "b")}

    def member(name: str) -> BroadcastPushConsumer:
        return BroadcastPushConsumer(
            **system.client,
            group="everybody",
            client_id=name,
            listener=_listener(taken[name]),
            offsets_folder=tmp_path,
        )

    with Consumer(**system.client, group="sharing") as sharing, member("a"):
        with member("b"):
            for each in taken.values():
                assert _take(each, len(everything)) == everything
            assert _poll(sharing, len(everything)) == everything
            system.admin.create_partitions({system.topic: NewPartitions(QUEUES + 1)})
            system.log.await_record("routes", lambda record: _queues(record) == QUEUES + 1)
            system.write(QUEUES, MORE)
            added = _places([QUEUES], 0, MORE)
            for each in taken.values():
                assert _take(each, MORE) == added
            assert _poll(sharing, MORE) == added
        # One that was away goes on where it was.
        system.write(0, 1)
        last = [(0, begun[0])]
        assert _take(taken["a"], 1) == last
        with member("b"):
            assert _take(taken["b"], 1) == last
        assert _poll(sharing, 1) == last
    assert all(each.empty() for each in taken.values())
    granted = [body for body in system.log.bodies("assignments") if body["group"] == "everybody"]
    assert not any(body.get("add") or body.get("assigned") for body in granted)
    assert system.broken() == []


def _end(system: BridgedSystem, partition: int) -> int:
    """Return how many messages a queue has; the other test writes some too."""
    from kafka import KafkaConsumer, TopicPartition

    place = TopicPartition(system.topic, partition)
    consumer = KafkaConsumer(bootstrap_servers=system.settings.kafka.bootstrap)
    end: int = consumer.end_offsets([place])[place]
    consumer.close()
    return end


def _poll(consumer: Consumer, count: int) -> list[tuple[int, int]]:
    found = []
    for _ in range(count):
        message = consumer.poll(WAIT_SECONDS * 1_000)
        assert message is not None
        found.append((message.partition, message.offset))
    return sorted(found)


def _queues(record: "ConsumerRecord") -> int:
    body: dict[str, Any] = body_of(record)
    return sum(broker["read_queue_nums"] for broker in body.get("brokers", ()))
