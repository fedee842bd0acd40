"""The real engine says over HTTP what it waits for: a broker that halts, a JVM that halts."""

import json
import os
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fairlead.broker import EmbeddedKafka
from fairlead.broker.ports import free_ports
from fairlead.settings import Settings, load_settings
from streaming.health import Patience
from streaming.job import JobOptions
from tests.fixtures.kafka import FEW_PARTITIONS
from tests.kit.awaiting import await_seen
from tests.kit.job import GivenSession, RunningJob

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAIT_SECONDS = 60
PATIENCE = Patience(slow_seconds=2, stalled_seconds=6, broker_seconds=2)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[EmbeddedKafka]:
    """A broker that may be halted."""
    with EmbeddedKafka(tmp_path / "kafka") as made:
        yield made


@pytest.fixture
def settings(cluster: EmbeddedKafka, tmp_path: Path) -> Settings:
    """An engine on that broker."""
    return load_settings(
        overrides={
            "kafka.bootstrap": cluster.bootstrap,
            "engine.checkpoint": str(tmp_path / "checkpoint"),
            "metrics.port": free_ports(1)[0],
            **FEW_PARTITIONS,
        }
    )


def _ask(settings: Settings) -> dict[str, Any]:
    where = settings.metrics
    try:
        answer = urllib.request.urlopen(f"http://{where.host}:{where.port}/readyz", timeout=10)
    except urllib.error.HTTPError as error:
        with error:
            return {"status": error.code, **json.load(error)}
    with answer:
        return {"status": answer.status, **json.load(answer)}


def _await(settings: Settings, running: RunningJob, state: str) -> dict[str, Any]:
    """Ask until the engine is in this state; return what it says."""

    def look() -> dict[str, Any]:
        running.check()
        try:
            return _ask(settings)
        except OSError:  # nothing is served yet
            return {}

    return await_seen(
        look, lambda found: found.get("state") == state, what=f"state {state}", seconds=WAIT_SECONDS
    )


def test_the_engine_goes_on_after_each_halt(
    spark_of_the_run: "SparkSession", cluster: EmbeddedKafka, settings: Settings
) -> None:
    """It waits for a broker, is stalled with its JVM, and goes on by itself after each."""
    jvm = spark_of_the_run.sparkContext._gateway.proc.pid  # type: ignore[union-attr]  # noqa: SLF001 - pyspark has no public way to its JVM
    options = JobOptions(GivenSession(spark_of_the_run), patience=PATIENCE)
    running = RunningJob(settings, options)
    found = _await(settings, running, "running")
    assert (found["status"], found["ready"], found["generation"]) == (200, True, 1)
    cluster.pause()
    try:
        found = _await(settings, running, "waiting_for_broker")
    finally:
        cluster.resume()
    assert (found["status"], found["ready"]) == (503, False)
    assert "no broker has accepted a tick for" in found["reason"]
    _await(settings, running, "running")
    os.kill(jvm, signal.SIGSTOP)
    try:
        found = _await(settings, running, "stalled")
    finally:
        os.kill(jvm, signal.SIGCONT)
    assert (found["status"], found["ready"]) == (503, False)
    assert "the JVM has not answered for" in found["reason"]
    _await(settings, running, "running")
    running.stop()
