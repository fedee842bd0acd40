"""What the job wrote, read back from Kafka, against a replay of what it read."""

import itertools
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.engine import Recording, ShardContext, Written, compare
from fairlead.errors import ExitCode
from fairlead.settings import Settings
from fairlead.wire.raw import raw_record
from sinks import FileSink
from strategies.registry import STRATEGIES
from streaming.checkpoint import Checkpoint
from streaming.query import QueryPlan, shard_context
from tests.engine.client import Client
from tests.streaming.fleet import Fleet
from tests.streaming.grants import held_by
from tests.streaming.log import Log, body_of
from tests.streaming.processes import EngineProcess, kill_at_once

pytestmark = pytest.mark.spark

INPUTS = ("control", "routes", "offsets", "releases", "heartbeats")
OUTPUTS = ("assignments", "decisions", "requests", "rejects")
CUTS_MIN = 50


def test_replay_gives_the_same_bytes(settings: Settings, log: Log, tmp_path: Path) -> None:
    """Fifty cuts and more, a kill of the engine among them, replay to the bytes in the topics."""
    names = (f"group-{number}" for number in itertools.count())
    with Fleet(settings.kafka) as fleet:
        with EngineProcess(settings, tmp_path / "first.log") as engine:
            log.check = engine.check
            for name in itertools.islice(names, 8):
                _come_and_go(fleet, log, name)
            log.append_of("heartbeats", "group-0", b"nonsense")
            last = fleet.join("c1", next(names))
            log.await_record("assignments", held_by(last))
            kill_at_once(engine.pid)
            assert engine.await_end() == -signal.SIGKILL
        with EngineProcess(settings, tmp_path / "second.log") as engine:
            log.check = engine.check
            for name in itertools.islice(names, 4):
                _come_and_go(fleet, log, name)
            engine.signal(signal.SIGTERM)
            assert engine.await_end() == ExitCode.OK
    recording = Recording.of(raw_record(entry) for topic in INPUTS for entry in log.records(topic))
    comparison = compare(recording, _written(log), lambda *run: _context(settings, *run))
    assert comparison.difference is None
    assert comparison.generations == 2
    assert comparison.cuts >= CUTS_MIN


def _come_and_go(fleet: Fleet, log: Log, group: str) -> None:
    """Two clients join one after the other, and the first one leaves."""
    first = fleet.join("c1", group)
    log.await_record("assignments", held_by(first))
    second = fleet.join("c2", group)
    log.await_record("assignments", lambda record: _holds(record, second, 2))
    fleet.leave(first)
    log.await_record("assignments", lambda record: _holds(record, second, 4))


def _holds(record: object, client: Client, queues: int) -> bool:
    body = body_of(record)
    if (body.get("group"), body.get("client_id")) != (client.group, client.client_id):
        return False
    return [each["state"] for each in body["assigned"]] == ["held"] * queues


def _written(log: Log) -> list[Written]:
    return [
        Written(entry.topic, entry.partition, entry.offset, entry.key, entry.value)
        for topic in OUTPUTS
        for entry in log.records(topic)
    ]


def _context(settings: Settings, shard: int, generation: int) -> ShardContext:
    """Return what the driver of a generation ran a shard under."""
    layout = Checkpoint(settings.engine.checkpoint).stored_layout()
    assert layout is not None
    plan = QueryPlan(settings, layout, generation, STRATEGIES, FileSink(Path()))
    return replace(shard_context(plan), shard=shard)
