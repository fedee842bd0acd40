"""The whole job on real parts: broker, Spark, workers, topics. One run serves every test here."""

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from fairlead.broker.ports import free_ports
from fairlead.kafka.input_topics import input_topics
from fairlead.wire.partition import partition_of_group
from strategies.registry import STRATEGIES
from tests.kit.awaiting import ended
from tests.kit.client import Client
from tests.kit.engine_process import children_of, kill_at_once
from tests.kit.kafka_log import SHARDS, body_of
from tests.kit.live_system import SharedEngine, shared_engine
from tests.kit.scrape import Scrape, await_metric, documented, scrape
from tests.streaming.faulty import FaultyStrategy

if TYPE_CHECKING:
    from kafka.consumer.fetcher import ConsumerRecord
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka


@pytest.fixture(scope="module")
def engine(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SharedEngine]:
    """One run of the job for all tests of this module; each test has groups of its own."""
    strategies = {**STRATEGIES, "FAULTY": FaultyStrategy()}
    folder, port = tmp_path_factory.mktemp("job"), free_ports(1)[0]
    with shared_engine(
        spark_of_the_run, kafka.bootstrap, folder, strategies, metrics_port=port
    ) as running:
        yield running


def _adds(client: Client, group: str) -> "Any":
    """Return what recognises the first record that gives a client something."""

    def wanted(record: "ConsumerRecord") -> bool:
        body = body_of(record)
        return (body.get("group"), body.get("client_id")) == (group, client.client_id) and bool(
            body.get("add")
        )

    return wanted


def _groups_of_one_shard() -> tuple[str, str]:
    """Return two groups whose records are in the same partition."""
    names = (f"neighbour-{number}" for number in itertools.count())
    first = next(names)
    shard = partition_of_group(first, SHARDS)
    return first, next(name for name in names if partition_of_group(name, SHARDS) == shard)


def test_a_first_client_gets_every_queue(engine: SharedEngine) -> None:
    """A client that joins gets every queue at its first offset, in its partition of assignments."""
    client = engine.fleet.join("c1", "first")
    record = engine.log.await_record("assignments", _adds(client, "first"))
    body = body_of(record)
    assert [add["queue"] for add in body["add"]] == [["orders", "main", n] for n in range(4)]
    assert all(add["after"] == [] and add["why"] == "first_offset" for add in body["add"])
    assert body["generation"] == 1
    assert orjson.loads(record.key) == ["first", "c1", client.incarnation, 0]


def test_a_second_client_gets_half_of_the_queues(engine: SharedEngine) -> None:
    """A second client gets half of the queues, each under a new epoch after its release."""
    first = engine.fleet.join("c1", "handover")
    engine.log.await_record("assignments", _adds(first, "handover"))
    second = engine.fleet.join("c2", "handover")
    record = engine.log.await_record("assignments", _adds(second, "handover"))
    released = [
        body["epoch"] for body in engine.log.bodies("releases") if body["group"] == "handover"
    ]
    assert released
    assert all(add["epoch"] > max(released) for add in body_of(record)["add"])


def test_a_malformed_record_goes_to_rejects(engine: SharedEngine) -> None:
    """A record that is no JSON goes to rejects with its place, and the rest goes on."""
    offset = engine.log.append("heartbeats", b"\xff{", b"malformed", 2)
    at = [engine.log.names.name("heartbeats"), 2, offset]
    reject = engine.log.await_record("rejects", lambda each: body_of(each)["at"] == at)
    assert body_of(reject)["reason"] == "not_utf8"
    client = engine.fleet.join("c1", "after-the-malformed")
    engine.log.await_record("assignments", _adds(client, "after-the-malformed"))


def test_fault_stays_in_its_group(engine: SharedEngine) -> None:
    """When a step raises for one group, another group of the same shard gets its decision."""
    broken, healthy = _groups_of_one_shard()
    _set_rule(engine, broken, "strategy", {"name": "FAULTY", "options": {}})
    victim = engine.fleet.join("c1", broken)
    failed = ("fairlead_steps_total", {"outcome": "failed"})
    await_metric(engine.settings.metrics, lambda found: found.value(*failed) > 0, engine.log.check)
    client = engine.fleet.join("c1", healthy)
    engine.log.await_record("assignments", _adds(client, healthy))
    engine.fleet.kill(victim)


def _set_rule(engine: SharedEngine, group: str, rule: str, value: Any) -> None:
    body = {"v": 1, "kind": "rule", "group": group, "rule": rule, "value": value, "by": "test"}
    shard = partition_of_group(group, SHARDS)
    engine.log.append("control", orjson.dumps(body), orjson.dumps([group, rule]), shard)


@contextmanager
def _traffic(engine: SharedEngine, *clients: Client, written: dict[int, int]) -> Iterator[None]:
    """Let clients process what is written to their queues, five times a second."""
    over = Event()

    def flow() -> None:
        while not over.wait(0.2):
            for client in clients:
                engine.fleet.work(client, written)

    thread = Thread(target=flow)
    thread.start()
    try:
        yield
    finally:
        over.set()
        ended(thread)


@pytest.mark.slow
def test_a_busy_queue_comes_to_be_alone(engine: SharedEngine) -> None:
    """A queue with most of the traffic comes to be alone, and the audit record says why."""
    _set_rule(engine, "weighed", "timing", {"trigger_ms": 1_000})
    _set_rule(engine, "weighed", "strategy", {"name": "STICKY"})
    _set_rule(engine, "weighed", "weighing", {"by": "rate", "over_ms": 1_000})
    clients = [engine.fleet.join(name, "weighed") for name in ("c1", "c2")]

    def weighed(record: "ConsumerRecord") -> bool:
        body = body_of(record)
        if body["group"] != "weighed" or "weights_changed" not in body["triggers"]:
            return False
        # A first measurement may have seen a part of the clients only.
        [found] = [one for one in body["cause"] if one["kind"] == "weights_changed"]
        return re.match(r"measured by rate: main/0 \S+ to 3\b", found["because"]) is not None

    def alone(record: "ConsumerRecord") -> bool:
        body = body_of(record)
        kept = [each["queue"] for each in body.get("assigned", []) if each["state"] != "draining"]
        return body.get("group") == "weighed" and kept == [["orders", "main", 0]]

    with _traffic(engine, *clients, written={0: 90, 1: 10, 2: 10, 3: 10}):
        decision = body_of(engine.log.await_record("decisions", weighed))
        engine.log.await_record("assignments", alone)
    [cause] = [one for one in decision["cause"] if one["kind"] == "weights_changed"]
    assert cause["topic"] == "orders"
    for client in clients:
        engine.fleet.kill(client)


def test_a_killed_worker_costs_a_second_try(
    engine: SharedEngine, spark_of_the_run: "SparkSession"
) -> None:
    """A Python worker that is killed costs its batch a second try, and nothing else."""
    client = engine.fleet.join("c1", "before-the-worker")
    engine.log.await_record("assignments", _adds(client, "before-the-worker"))
    jvm = spark_of_the_run.sparkContext._gateway.proc.pid  # type: ignore[union-attr]  # noqa: SLF001 - pyspark has no public way to its JVM
    workers = [worker for daemon in children_of(jvm) for worker in children_of(daemon)]
    kill_at_once(*workers)
    client = engine.fleet.join("c1", "after-the-worker")
    engine.log.await_record("assignments", _adds(client, "after-the-worker"))


def test_the_metrics_of_a_running_job_count(engine: SharedEngine) -> None:
    """While the job runs /metrics tells of its batches, records, groups and decisions."""
    client = engine.fleet.join("c1", "metrics")
    engine.log.await_record("assignments", _adds(client, "metrics"))

    def decided(found: Scrape) -> bool:
        joined = found.value("fairlead_decision_triggers_total", {"trigger": "client_joined"})
        return joined > 0 and found.value("fairlead_groups", {"phase": "stable"}) > 0

    found = await_metric(engine.settings.metrics, decided, engine.log.check)
    assert found.value("fairlead_generation") == 1
    assert found.value("fairlead_batches_total", {"outcome": "committed"}) > 0
    assert found.value("fairlead_batch_duration_seconds_count", {"phase": "execution"}) > 0
    operator = {"operator": "applyInPandasWithState"}
    assert found.value("fairlead_state_rows", operator) == SHARDS
    assert found.value("fairlead_state_bytes", operator) > 0
    assert found.value("fairlead_event_age_seconds_count", {"type": "heartbeat"}) > 0
    assert 0 < found.value("fairlead_watermark_gap_seconds") < 60
    assert found.value("fairlead_assignments_published_total", {"kind": "assignment"}) > 0
    assert found.value("fairlead_events_total", {"type": "heartbeat", "outcome": "applied"}) > 0
    assert found.value("fairlead_records_written_total", {"topic": "assignments"}) > 0
    assert found.value("fairlead_ticks_total", {"outcome": "appended"}) >= SHARDS
    topics = found.labels("fairlead_input_lag_records", "topic")
    assert topics == set(input_topics(engine.log.names))


def test_every_family_is_documented(engine: SharedEngine) -> None:
    """Every family of the endpoint is explained in docs/metrics.md, and every one there exists."""
    assert documented() == scrape(engine.settings.metrics).families()
