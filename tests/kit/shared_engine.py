"""One run of the job for a whole module of tests, each of which has groups of its own."""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fairlead.core.allocation import Strategy
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import Settings, load_settings
from strategies.registry import STRATEGIES
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.kit.fleet import Fleet
from tests.kit.job import job
from tests.kit.kafka_log import Log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Engine", "shared_engine"]


class Engine(NamedTuple):
    """A running job, and the world around it."""

    settings: Settings
    log: Log
    fleet: Fleet


@contextmanager
def shared_engine(
    spark: "SparkSession",
    bootstrap: str,
    folder: Path,
    strategies: Mapping[str, Strategy] = STRATEGIES,
    *,
    metrics_port: int = 0,
) -> Iterator[Engine]:
    """Run the job on topics that nobody else has; its state goes into a folder."""
    settings = load_settings(
        overrides={
            "kafka.bootstrap": bootstrap,
            "kafka.topic_prefix": f"shared-{uuid.uuid4().hex[:8]}.",
            "engine.checkpoint": str(folder / "checkpoint"),
            "metrics.port": metrics_port,
            # Blocks in the order of the client ids: a test knows beforehand who has what.
            "group_defaults.strategy": "AVG",
            **FEW_PARTITIONS,
        }
    )
    connection = {"bootstrap_servers": bootstrap}
    create_topics(connection, settings.kafka.topic_prefix, topic_specs(settings.topics))
    with (
        Log(settings.kafka) as log,
        Fleet(settings.kafka) as fleet,
        job(spark, settings, log, strategies),
    ):
        yield Engine(settings, log, fleet)
