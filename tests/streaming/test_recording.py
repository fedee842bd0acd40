"""What the job wrote, read back from Kafka, against a replay of what it read."""

import itertools
import signal
from pathlib import Path

import pytest

from fairlead.errors import ExitCode
from fairlead.settings import Settings
from tests.engine.client import Client
from tests.streaming.fleet import Fleet
from tests.streaming.grants import held_by
from tests.streaming.log import Log, body_of
from tests.streaming.processes import EngineProcess, kill_at_once
from tests.streaming.replayed import compare_with_replay

pytestmark = pytest.mark.spark

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
    comparison = compare_with_replay(settings, log)
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
