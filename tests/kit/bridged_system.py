"""One run of job and bridge, with a topic whose messages clients consume."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from kafka import KafkaAdminClient
from typer.testing import CliRunner

from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge
from fairlead.broker.ports import free_ports
from fairlead.cli.main import app
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import Settings, load_settings
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.kit.bridge_ledger import running
from tests.kit.job import job
from tests.kit.kafka_log import Log
from tests.kit.kafka_topics import fill

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["System", "bridged"]

BEGAN_MS = int(time.time()) * 1_000 - 60_000
"""When the first message was written: a broker deletes what is old."""


class System(NamedTuple):
    """The running job and bridge, their log, a topic with messages, and a Kafka to change."""

    settings: Settings
    log: Log
    topic: str
    admin: KafkaAdminClient

    @property
    def client(self) -> dict[str, Any]:
        """What every client of the test's topics is told: where they are, and what it reads."""
        kafka = self.settings.kafka
        place = {"bootstrap": kafka.bootstrap, "prefix": kafka.topic_prefix}
        return {**place, "topics": [self.topic], "consume_from": "first_offset"}

    def write(self, partition: int, messages: int) -> None:
        """Write so many messages more."""
        times_ms = [BEGAN_MS + number for number in range(messages)]
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


@contextmanager
def bridged(
    spark: "SparkSession", bootstrap: str, folder: Path, *, queues: int = 1, messages: int = 10
) -> Iterator[System]:
    """Run them, on topics that nobody else has; each queue begins with so many messages."""
    name = uuid.uuid4().hex[:8]
    settings = load_settings(
        overrides={
            "kafka.bootstrap": bootstrap,
            "kafka.topic_prefix": f"bridged-{name}.",
            "engine.checkpoint": f"{folder}/checkpoint",
            "metrics.port": free_ports(1)[0],
            **FEW_PARTITIONS,
        }
    )
    place = {"bootstrap_servers": bootstrap}
    create_topics(place, settings.kafka.topic_prefix, topic_specs(settings.topics))
    admin = KafkaAdminClient(**place)
    topic = f"orders-{name}"
    admin.create_topics({topic: {"num_partitions": queues}}, wait_for_metadata=True)
    bridge = KafkaBridge(
        control_bootstrap=bootstrap,
        prefix=settings.kafka.topic_prefix,
        cluster_name="main",
        times=BridgeTimes(poll_ms=500),
    )
    with Log(settings.kafka) as log, running(bridge), job(spark, settings, log):
        system = System(settings, log, topic, admin)
        for partition in range(queues):
            system.write(partition, messages)
        yield system
    admin.close()
