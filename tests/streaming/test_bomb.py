"""A record of 450 MB in 30 KB: a topic that is set right refuses it; elsewhere it is passed."""

import re
import time
from pathlib import Path
from typing import Final

import pytest
from kafka import TopicPartition
from kafka.errors import KafkaError

from fairlead.errors import ExitCode
from fairlead.settings import Settings
from fairlead.wire.partition import partition_of_group
from tests.kit.codecs import codecs_kept, produce
from tests.kit.engine_process import EngineProcess
from tests.kit.fleet import Fleet
from tests.kit.kafka_log import SHARDS, Log

BOMB_BYTES: Final = 450_000_000
GROUP: Final = "orders"


def seconds_to_decide(fleet: Fleet, client_id: str, group: str) -> float:
    """Return how long a first client of a group waits until it holds its queues."""
    began = time.monotonic()
    client = fleet.join(client_id, group)
    fleet.await_held(client, 4)
    return time.monotonic() - began


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.system
def test_engine_meets_a_record_that_becomes_large(
    settings: Settings, log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused where the topic is right; where it was not, one start with --skip goes past it."""
    monkeypatch.setenv("FAIRLEAD__ENGINE__JAVA_HEAP", "512m")
    bootstrap, shard = settings.kafka.bootstrap, partition_of_group(GROUP, SHARDS)
    place = TopicPartition(log.names.name("heartbeats"), shard)
    probe = TopicPartition(place.topic, (shard + 1) % SHARDS)
    log_file = tmp_path / "engine.log"
    with Fleet(settings.kafka) as fleet:
        with EngineProcess(settings, log_file) as engine:
            engine.await_said("engine runs")
            fleet.join("first", GROUP)
            seconds_to_decide(fleet, "w", "warm")
            before = min(seconds_to_decide(fleet, "w", f"before-{each}") for each in range(3))
            with pytest.raises(KafkaError):
                produce(bootstrap, place, "zstd", [bytes(BOMB_BYTES)], b"x", retries=0)
            after = min(seconds_to_decide(fleet, "w", f"after-{each}") for each in range(3))
            assert after <= 2 * before
            with codecs_kept(bootstrap, probe):
                (offset,) = produce(bootstrap, place, "zstd", [bytes(BOMB_BYTES)], b"x")
            assert engine.await_end() == ExitCode.QUERY_DIED
        with EngineProcess(settings, log_file) as engine:
            named = f"record may end the engine.*{re.escape(place.topic)}/{shard}@{offset}"
            engine.await_said(named)
            assert engine.await_end() == ExitCode.QUERY_DIED
        skip = ("--skip", f"{place.topic}/{shard}@{offset}")
        with EngineProcess(settings, log_file, *skip) as engine:
            engine.await_said("skipped a record")
            seconds_to_decide(fleet, "w", "recovered")
            assert min(seconds_to_decide(fleet, "w", f"past-{n}") for n in range(3)) <= 2 * before
        with EngineProcess(settings, log_file, *skip) as engine:
            assert engine.await_end() == ExitCode.REFUSED
            assert "a skip works once" in engine.text()
