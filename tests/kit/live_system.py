"""The real job over topics of its own, with a bridge or with clients that a test leads by hand."""

import contextlib
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson
from kafka import KafkaAdminClient
from typer.testing import CliRunner

from fairlead.broker.ports import free_ports
from fairlead.cli.main import app
from fairlead.core.allocation import Strategy
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import Settings, load_settings
from strategies.registry import STRATEGIES
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.kit.bridge import bridge_of, running
from tests.kit.fleet import Fleet
from tests.kit.job import job
from tests.kit.kafka_log import Log
from tests.kit.kafka_topics import fill, make_topic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "NOW_MS",
    "WAIT_MS",
    "BridgedSystem",
    "LiveSystem",
    "SharedEngine",
    "bridged",
    "live_system",
    "shared_engine",
]

NOW_MS: Final = int(time.time()) * 1_000 - 60_000
"""When the first message was written: a broker deletes what is old."""
WAIT_MS: Final = 120_000


def _own_settings(bootstrap: str, name: str, folder: Path, **others: Any) -> Settings:
    """Return the settings of an engine whose topics exist, and are nobody else's."""
    settings = load_settings(
        overrides={
            "kafka.bootstrap": bootstrap,
            "kafka.topic_prefix": f"{name}.",
            "engine.checkpoint": str(folder / "checkpoint"),
            "metrics.port": 0,
            **FEW_PARTITIONS,
            **{key.replace("__", "."): value for key, value in others.items()},
        }
    )
    place = {"bootstrap_servers": bootstrap}
    create_topics(place, settings.kafka.topic_prefix, topic_specs(settings.topics))
    return settings


class LiveSystem(NamedTuple):
    """The running job, with or without a bridge, and the topic."""

    settings: Settings
    log: Log
    topic: str


@contextlib.contextmanager
def live_system(
    spark: "SparkSession",
    bootstrap: str,
    folder: Path,
    *,
    queues: int = 1,
    messages: int = 0,
    bridged: bool = True,
) -> Iterator[LiveSystem]:
    """Run it; the first queue has so many messages, a millisecond apart."""
    name = uuid.uuid4().hex[:8]
    settings, topic = _own_settings(bootstrap, f"live-{name}", folder), f"orders-{name}"
    make_topic(bootstrap, topic, partitions=queues)
    if messages:
        fill(bootstrap, topic, 0, [NOW_MS + number for number in range(messages)])
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(Log(settings.kafka))
        if bridged:
            bridge = bridge_of(bootstrap, settings.kafka.topic_prefix, topic, poll_ms=500)
            stack.enter_context(running(bridge))
        stack.enter_context(job(spark, settings, log))
        yield LiveSystem(settings, log, topic)


class BridgedSystem(NamedTuple):
    """The running job and bridge, their log, a topic with messages, and a Kafka to change."""

    settings: Settings
    log: Log
    topic: str
    admin: KafkaAdminClient

    @property
    def client(self) -> dict[str, Any]:
        """The settings of every client of the test's topics: where they are, and what it reads."""
        kafka = self.settings.kafka
        place = {"bootstrap": kafka.bootstrap, "prefix": kafka.topic_prefix}
        return {**place, "topics": [self.topic], "consume_from": "first_offset"}

    def write(self, partition: int, messages: int) -> None:
        """Write so many messages more."""
        times_ms = [NOW_MS + number for number in range(messages)]
        fill(self.settings.kafka.bootstrap, self.topic, partition, times_ms)

    def broken(self) -> list[dict[str, Any]]:
        """Judge everything that stands in the topics by now, and return what does not hold."""
        kafka = self.settings.kafka
        place = ["--bootstrap", kafka.bootstrap, "--topic-prefix", kafka.topic_prefix]
        ended = CliRunner().invoke(app, ["verify", *place, "-o", "json"])
        # Its verdict is not asked for: it says no where no queue went to another client.
        judged = orjson.loads(ended.stdout)
        assert judged["counts"]["decisions"] > 0
        return [each for each in judged["invariants"] if each["outcome"] == "broken"]


@contextlib.contextmanager
def bridged(
    spark: "SparkSession",
    bootstrap: str,
    folder: Path,
    *,
    queues: int = 1,
    messages: int = 10,
    topic: str | None = None,
    **others: Any,
) -> Iterator[BridgedSystem]:
    """Run job and bridge; clients consume a topic whose queues begin with so many messages.

    ``topic``: its name, where nobody else has one of this name; None: a name of its own.
    ``others``: further settings of the engine, such as ``group_defaults__lease_ms``.
    """
    name = uuid.uuid4().hex[:8]
    port = free_ports(1)[0]
    settings = _own_settings(bootstrap, f"bridged-{name}", folder, metrics__port=port, **others)
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    topic = topic or f"orders-{name}"
    admin.create_topics({topic: {"num_partitions": queues}}, wait_for_metadata=True)
    bridge = bridge_of(bootstrap, settings.kafka.topic_prefix, poll_ms=500)
    with Log(settings.kafka) as log, running(bridge), job(spark, settings, log):
        system = BridgedSystem(settings, log, topic, admin)
        for partition in range(queues):
            system.write(partition, messages)
        yield system
    admin.close()


class SharedEngine(NamedTuple):
    """A running job for a whole module of tests, and the clients around it."""

    settings: Settings
    log: Log
    fleet: Fleet


@contextlib.contextmanager
def shared_engine(
    spark: "SparkSession",
    bootstrap: str,
    folder: Path,
    strategies: Mapping[str, Strategy] = STRATEGIES,
    *,
    metrics_port: int = 0,
) -> Iterator[SharedEngine]:
    """Run the job on topics that nobody else has; each test has groups of its own."""
    settings = _own_settings(
        bootstrap,
        f"shared-{uuid.uuid4().hex[:8]}",
        folder,
        metrics__port=metrics_port,
        # Blocks in the order of the client ids: a test knows beforehand who has what.
        group_defaults__strategy="AVG",
    )
    with (
        Log(settings.kafka) as log,
        Fleet(settings.kafka) as fleet,
        job(spark, settings, log, strategies),
    ):
        yield SharedEngine(settings, log, fleet)
