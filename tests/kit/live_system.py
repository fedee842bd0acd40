"""The real job over topics of its own, with a topic of messages: for commands that act live."""

import contextlib
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import Settings, load_settings
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.kit.bridge_ledger import running
from tests.kit.job import job
from tests.kit.kafka_log import Log
from tests.kit.kafka_topics import fill, make_topic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["NOW_MS", "WAIT_MS", "LiveSystem", "live_system"]

NOW_MS: Final = int(time.time()) * 1_000 - 60_000
"""When the first message was written: a broker deletes what is old."""
WAIT_MS: Final = 120_000


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
    place, name = {"bootstrap_servers": bootstrap}, uuid.uuid4().hex[:8]
    settings = load_settings(
        overrides={
            "kafka.bootstrap": bootstrap,
            "kafka.topic_prefix": f"live-{name}.",
            "engine.checkpoint": str(folder / "checkpoint"),
            "metrics.port": 0,
            **FEW_PARTITIONS,
        }
    )
    topic = f"orders-{name}"
    create_topics(place, settings.kafka.topic_prefix, topic_specs(settings.topics))
    make_topic(bootstrap, topic, partitions=queues)
    if messages:
        fill(bootstrap, topic, 0, [NOW_MS + number for number in range(messages)])
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(Log(settings.kafka))
        if bridged:
            bridge = KafkaBridge(
                control_bootstrap=bootstrap,
                prefix=settings.kafka.topic_prefix,
                cluster_name="main",
                topics=[topic],
                times=BridgeTimes(poll_ms=500),
            )
            stack.enter_context(running(bridge))
        stack.enter_context(job(spark, settings, log))
        yield LiveSystem(settings, log, topic)
