"""The fuzz: hostile records at a running engine, bridge, serve and clients, beside a witness group.

`make fuzz` runs it; ``FUZZ_SEED`` repeats a run and ``FUZZ_ROUNDS`` makes it longer. What must
hold whatever is written: every record is accounted for, nobody ends, what the engine wrote is what
a replay writes, and the witness group, to whom nothing of it is addressed, is served as before: its
joins are decided, and nobody works on a queue of another.
"""

import os
import sys
import threading
import time
from collections import Counter, defaultdict
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson
import pytest
from fairlead_client import Client
from kafka import KafkaAdminClient, KafkaProducer
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge
from fairlead.broker.ports import free_ports
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import Settings, load_settings
from fairlead.wire.partition import partition_of_group
from streaming.checkpoint import Checkpoint
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.fuzz.abuse import (
    GROUPS,
    REASONS,
    SETTINGS,
    abuse,
    letters,
    longest_allowed,
    longest_batch,
)
from tests.fuzz.mutations import KINDS, MUTATIONS, broken_records
from tests.kit.bridge import running
from tests.kit.job import job
from tests.kit.kafka_log import Log
from tests.kit.scrape import Scrape, await_metric
from tests.kit.serve_process import serving
from tests.streaming.replayed import Place, compare_with_replay

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INPUTS: Final = ("heartbeats", "releases", "control", "routes", "offsets")
QUIET: Final = ("releases", "control")
"""Topics to which nobody writes once the fuzz is over and the clients are gone."""
SEED: Final = int(os.environ.get("FUZZ_SEED") or time.time_ns() % 1_000_000)
ROUNDS: Final = int(os.environ.get("FUZZ_ROUNDS") or 1)
JOIN_SECONDS_MIN: Final = 2.0
"""A join that is decided within this is not slow, whatever one took before."""
WAIT_SECONDS: Final = 120.0


class Watch:
    """Who works on which queue, as the callbacks of clients say; two on one queue is an overlap."""

    def __init__(self) -> None:
        self.overlaps: list[str] = []
        self._holders: dict[Any, set[str]] = defaultdict(set)
        self._changed = threading.Condition()

    def client(self, name: str, group: str, **settings: Any) -> Client:
        """Return a client whose queues are watched."""

        def assigned(queue: Any, _: int) -> None:
            with self._changed:
                if others := self._holders[queue] - {name}:
                    self.overlaps.append(f"{queue}: {name} beside {sorted(others)}")
                self._holders[queue].add(name)
                self._changed.notify_all()

        def revoked(queue: Any) -> None:
            with self._changed:
                self._holders[queue].discard(name)
                self._changed.notify_all()

        return Client(on_assigned=assigned, on_revoked=revoked, group=group, **settings)

    def await_held(self, name: str) -> float:
        """Return how long it took until somebody worked on something."""
        began = time.monotonic()
        with self._changed:
            held = self._changed.wait_for(
                lambda: any(name in each for each in self._holders.values()), WAIT_SECONDS
            )
        assert held, f"{name} was given nothing; seed {SEED}"
        return time.monotonic() - began


def _join(watch: Watch, name: str, place: dict[str, Any]) -> float:
    """Let one more client of the witness group join and leave; return how long its join took."""
    with watch.client(name, "witness", **place):
        return watch.await_held(name)


def _members(log: Log) -> list[tuple[str, str]]:
    """Return who has heartbeated in the group that is fuzzed."""
    found = set()
    for record in log.records("heartbeats"):
        with suppress(ValueError, KeyError, TypeError):
            body = orjson.loads(record.value or b"")
            if (body["group"], body["kind"]) == ("fuzzed", "heartbeat"):
                found.add((str(body["client_id"]), str(body["incarnation"])))
    return sorted(found)


def _write(settings: Settings, log: Log, seed: int, rounds: int) -> set[Place]:
    """Write the hostile records, in the names of members of the group that is fuzzed.

    Returns where those to bridges stand: beside what the engine asks, and it never reads them.
    """
    members = _members(log)
    assert members, "somebody must be there in whose name to speak"
    producer = KafkaProducer(
        bootstrap_servers=settings.kafka.bootstrap,
        acks="all",
        # An idempotent producer gives up for good after the first record that the broker refuses.
        enable_idempotence=False,
    )
    written: list[Any] = []
    refused = 0
    try:
        for each in broken_records(seed, rounds, "fuzzed", "nobodys", members):
            topic = log.names.name(each.suffix)
            partition = partition_of_group(each.group, len(producer.partitions_for(topic)))
            # kafka-python sends nothing that has neither key nor value.
            key = b"" if each.key is None and each.value is None else each.key
            try:
                # One by one: the broker refuses a whole batch for one record without a key.
                sent = producer.send(topic, key=key, value=each.value, partition=partition)
                written.append(sent.get(30))
            except KafkaError:
                refused += 1
    finally:
        producer.close()
    assert refused < len(written) / 5, "the broker keeps most of it from the engine"
    asked = log.names.name("requests")
    return {(each.topic, each.partition, each.offset) for each in written if each.topic == asked}


def _ends(settings: Settings, log: Log) -> dict[str, int]:
    """Return how many records each input topic has ever had."""
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(bootstrap_servers=settings.kafka.bootstrap)
    try:
        ends = {}
        for suffix in INPUTS:
            topic = log.names.name(suffix)
            numbers = consumer.partitions_for_topic(topic)
            found = consumer.end_offsets([TopicPartition(topic, number) for number in numbers])
            ends[suffix] = sum(found.values())
        return ends
    finally:
        consumer.close()


def _read(scraped: Scrape, suffix: str) -> float:
    return scraped.value("fairlead_records_read_total", {"topic": suffix})


def _accounted(scraped: Scrape, suffix: str) -> float:
    """Return for how many records of a topic the engine says what became of them."""
    return sum(
        sample.value
        for family in scraped._families  # noqa: SLF001 - all label sets of one family
        for sample in family.samples
        if sample.name == "fairlead_records_total" and sample.labels["topic"] == suffix
    )


def _await_read(settings: Settings, wanted: dict[str, int], log: Log) -> Scrape:
    """Scrape until the engine has read so many records of each topic since its start."""

    def all_read(scraped: Scrape) -> bool:
        return all(_read(scraped, suffix) >= wanted[suffix] for suffix in INPUTS)

    return await_metric(settings.metrics, all_read, log.check)


def _read_before(settings: Settings, log: Log) -> dict[str, int]:
    """Return how many records of each topic an engine that has ended had read for good.

    Its last numbers may be older: it may have ended a batch after they were asked for.
    """
    offsets = Checkpoint(Path(settings.engine.checkpoint)).next_offsets()
    read = Counter[str]()
    for (topic, _), offset in offsets.items():
        read[topic] += offset
    return {suffix: read[log.names.name(suffix)] for suffix in INPUTS}


def _assert_conserved(scraped: Scrape) -> None:
    """Check that of each topic as many records were read as are accounted for."""
    assert {suffix: _accounted(scraped, suffix) for suffix in INPUTS} == {
        suffix: _read(scraped, suffix) for suffix in INPUTS
    }, f"seed {SEED}"


def _assert_bounded(settings: Settings, log: Log, scraped: Scrape) -> None:
    """Check that the surplus of the abuse was refused by name, and that no batch was too long."""
    told = letters(log)
    for reason in REASONS:
        refused = scraped.value("fairlead_rejects_total", {"reason": reason})
        assert refused >= told[reason] > 0, f"{reason}: {refused} refused, {told[reason]} told"
    refused = scraped.value("fairlead_rejects_total", {"reason": "quota_new_groups"})
    decided = {body["group"] for body in log.bodies("decisions")}
    made = sum(name.startswith("invented-") for name in decided)
    assert 0 < made < GROUPS <= made + refused
    for topic in ("heartbeats", "releases"):
        over = {"kind": "over_quota", "outcome": "refused", "topic": topic}
        assert scraped.value("fairlead_records_total", over) > 0, topic
    assert longest_batch(Path(settings.engine.checkpoint)) <= longest_allowed()


def _system(bootstrap: str, folder: Path) -> tuple[Settings, dict[str, Any]]:
    """Return the settings of a system on topics of its own, and those of its clients."""
    prefix = f"fuzz-{time.time_ns():x}."
    settings = load_settings(
        overrides={
            "kafka.bootstrap": bootstrap,
            "kafka.topic_prefix": prefix,
            "engine.checkpoint": f"{folder}/checkpoint",
            "metrics.port": free_ports(1)[0],
            **FEW_PARTITIONS,
            **SETTINGS,
        }
    )
    create_topics({"bootstrap_servers": bootstrap}, prefix, topic_specs(settings.topics))
    topic = f"orders-{prefix[:-1]}"
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics({topic: {"num_partitions": 4}}, wait_for_metadata=True)
    admin.close()
    place = {"bootstrap": bootstrap, "prefix": prefix, "topics": [topic]}
    return settings, {**place, "consume_from": "first_offset"}


def _bridge(settings: Settings) -> KafkaBridge:
    return KafkaBridge(
        control_bootstrap=settings.kafka.bootstrap,
        prefix=settings.kafka.topic_prefix,
        cluster_name="main",
        times=BridgeTimes(poll_ms=500),
    )


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> int:
    """How often each kind goes through each mutation."""
    return int(request.param)


@pytest.mark.parametrize(
    "rounds",
    [
        pytest.param(ROUNDS, id="short"),
        pytest.param(10 * ROUNDS, id="long", marks=pytest.mark.slow),
    ],
    indirect=True,
)
def test_hostile_records_of_every_kind_are_survived(
    spark: "SparkSession", bootstrap: str, tmp_path: Path, rounds: int
) -> None:
    """Every kind through every mutation, before and across a restart of the engine."""
    sys.stdout.write(f"seed {SEED}: repeat with make fuzz FUZZ_SEED={SEED} FUZZ_ROUNDS={ROUNDS}\n")
    settings, place = _system(bootstrap, tmp_path)
    witness, victims = Watch(), Watch()
    with ExitStack() as stack:
        log = stack.enter_context(Log(settings.kafka))
        stack.enter_context(running(_bridge(settings)))
        served = stack.enter_context(serving(tmp_path, bootstrap, settings.kafka.topic_prefix))
        clients = stack.enter_context(ExitStack())
        with job(spark, settings, log) as engine:
            # An engine that starts has no tempo yet against which a join can be measured.
            engine.await_state((settings.engine.checkpoint / "query" / "commits" / "0").exists)
            clients.enter_context(witness.client("w1", "witness", **place))
            clients.enter_context(victims.client("v1", "fuzzed", **place))
            witness.await_held("w1")
            victims.await_held("v1")
            before = max(_join(witness, f"before-{number}", place) for number in range(2))
            asked = _write(settings, log, SEED, rounds)
            after = _join(witness, "after", place)
            assert after <= max(2 * before, JOIN_SECONDS_MIN), f"seed {SEED}: {before} → {after}"
            abuse(settings, log)
            _join(witness, "beside the abuse", place)
            first = _await_read(settings, _ends(settings, log), log)
            _assert_conserved(first)
            _assert_bounded(settings, log, first)
        done = _read_before(settings, log)
        for suffix in QUIET:
            assert _read(first, suffix) == done[suffix], f"seed {SEED}"
        # What is written while no engine runs is read by the next one.
        asked |= _write(settings, log, SEED + 1, 1)
        with job(spark, settings, log):
            _join(witness, "restarted", place)
            served.wait("/readyz", 200)
            assert served.get("/api/v1/groups")[0] == 200
            assert served.get("/metrics")[0] == 200
            clients.close()
            ends = _ends(settings, log)
            left = {suffix: ends[suffix] - done[suffix] for suffix in INPUTS}
            second = _await_read(settings, left, log)
            _assert_conserved(second)
            for suffix in QUIET:
                assert _read(second, suffix) == left[suffix], f"seed {SEED}"
        assert witness.overlaps == [], f"seed {SEED}"
        comparison = compare_with_replay(settings, log, asked)
        assert comparison.difference is None, f"seed {SEED}: {comparison.difference}"


def test_each_kind_goes_through_each_mutation() -> None:
    """The same seed gives the same records, and no pair is left out."""
    made = [list(broken_records(7, 1, "g", "t", [("c", "i")])) for _ in range(2)]
    assert made[0] == made[1]
    pairs = {f"{kind}: {name}" for kind in KINDS for name in MUTATIONS}
    assert {each.made for each in made[0]} == pairs
