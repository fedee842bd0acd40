"""The ticker moves the clock of the log in every partition, and says when it cannot."""

import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from kafka.errors import IllegalStateError

from fairlead.broker import EmbeddedKafka
from fairlead.core.records import Tick
from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import Settings
from fairlead.wire.decode import decode
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import raw_record
from streaming.clock import Ticker
from tests.kit.awaiting import await_seen
from tests.kit.kafka_log import Log

if TYPE_CHECKING:
    from collections.abc import Callable

    from kafka.consumer.fetcher import ConsumerRecord

SHARDS = 4


def _never(error: Exception) -> None:
    raise AssertionError(error)


def _is_at(partition: int, offset: int) -> "Callable[[ConsumerRecord], bool]":
    return lambda record: (record.partition, record.offset) == (partition, offset)


def _generation(record: "ConsumerRecord") -> int:
    """Return the generation of a tick, read as the engine reads it."""
    raw = raw_record(record)
    tick = decode("heartbeats", raw, WireLimits(SHARDS))
    assert isinstance(tick, Tick)
    assert raw.append_time_is_log
    return tick.generation


def test_a_tick_is_in_every_partition_after_the_start(settings: Settings, log: Log) -> None:
    """When start returns a tick of the generation is in every partition, dated by the broker."""
    ticker = Ticker(settings.kafka, SHARDS, 60_000, _never)
    ticker.start(7)
    ticker.stop()
    records = log.records("heartbeats")
    assert sorted(record.partition for record in records) == list(range(SHARDS))
    assert {_generation(record) for record in records} == {7}


def test_ticks_come_one_period_apart(settings: Settings, log: Log) -> None:
    """Ticks come in every partition, one period apart."""
    ticker = Ticker(settings.kafka, SHARDS, 200, _never)
    ticker.start(1)
    for partition in range(SHARDS):
        log.await_record("heartbeats", _is_at(partition, 9))
    ticker.stop()
    times = [each.timestamp for each in log.records("heartbeats") if each.partition == 0]
    # Nine periods; a loaded machine may delay one tick but not speed the clock up.
    assert times[9] - times[0] >= 9 * 200 - 100
    assert ticker.counts.appended >= SHARDS * 10
    assert ticker.counts.lost == 0


def test_a_ticker_that_cannot_send_refuses_to_start(settings: Settings) -> None:
    """A ticker that cannot send its first ticks refuses to start."""
    away = settings.kafka.model_copy(update={"bootstrap": "127.0.0.1:1"})
    with pytest.raises(EnvironmentMissingError, match=r"kafka\.bootstrap"):
        Ticker(away, SHARDS, 1_000, _never).start(1)


@pytest.mark.slow
def test_ticks_lost_in_an_outage_are_counted(settings: Settings, tmp_path: Path) -> None:
    """While the broker is away ticks are lost and counted; when it is back they go on."""
    with EmbeddedKafka(tmp_path / "kafka") as cluster:
        kafka = settings.kafka.model_copy(update={"bootstrap": cluster.bootstrap})
        connection = {"bootstrap_servers": cluster.bootstrap}
        create_topics(connection, kafka.topic_prefix, topic_specs(settings.topics))
        ticker = Ticker(kafka, SHARDS, 200, _never)
        with ExitStack() as stack:
            stack.callback(ticker.stop)
            ticker.start(1)
            cluster.kill()
            await_seen(lambda: ticker.counts.lost, what="lost tick")
            cluster.restart()
            log = stack.enter_context(Log(kafka))
            newest = len(log.records("heartbeats"))
            log.await_record("heartbeats", lambda each: each.offset > newest)


def test_failure_is_told(settings: Settings) -> None:
    """A ticker that ends by anything but an absent broker says so, once."""
    told: list[Exception] = []
    heard = threading.Event()

    def fail(error: Exception) -> None:
        told.append(error)
        heard.set()

    ticker = Ticker(settings.kafka, SHARDS, 50, fail)
    ticker.start(1)
    assert ticker.producer is not None
    ticker.producer.close()
    assert heard.wait(30)
    ticker.stop()
    assert [type(error) for error in told] == [IllegalStateError]
