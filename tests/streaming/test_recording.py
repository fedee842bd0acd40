"""What the job wrote, read back from Kafka, against a replay of what it read."""

import functools
import gzip
import itertools
import re
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.errors import ExitCode
from fairlead.settings import Settings
from fairlead.wire.topics import ALL_TOPICS
from tests.kit.client import Client
from tests.kit.engine_process import EngineProcess, kill_at_once
from tests.kit.fleet import Fleet
from tests.kit.kafka_log import Log, body_of
from tests.streaming.grants import held_by

pytestmark = [pytest.mark.system, pytest.mark.spark]

CUTS_MIN = 24
TOGETHER = 4
"""So many groups change at once: a batch has a cut in each shard where one of them is."""


@pytest.mark.slow
def test_replay_gives_the_same_bytes(settings: Settings, log: Log, tmp_path: Path) -> None:
    """Dozens of cuts, a kill of the engine among them, replay to the bytes in the topics."""
    names = (f"group-{number}" for number in itertools.count())
    with Fleet(settings.kafka) as fleet:
        with EngineProcess(settings, tmp_path / "first.log") as engine:
            log.check = engine.check
            while _cuts(log) < CUTS_MIN // 2:
                _come_and_go(fleet, log, list(itertools.islice(names, TOGETHER)))
            log.append_of("heartbeats", "group-0", b"nonsense")
            last = fleet.join("c1", next(names))
            log.await_record("assignments", held_by(last))
            kill_at_once(engine.pid)
            assert engine.await_end() == -signal.SIGKILL
        with EngineProcess(settings, tmp_path / "second.log") as engine:
            log.check = engine.check
            _come_and_go(fleet, log, list(itertools.islice(names, TOGETHER)))
            while _cuts(log) < CUTS_MIN:
                _come_and_go(fleet, log, list(itertools.islice(names, TOGETHER)))
            engine.signal(signal.SIGTERM)
            assert engine.await_end() == ExitCode.OK
    where = ["--bootstrap", settings.kafka.bootstrap, "--topic-prefix", settings.kafka.topic_prefix]
    folder = tmp_path / "recording"
    rows = _run("record", *where, "--to", str(folder))
    assert {
        row["topic"].removeprefix(settings.kafka.topic_prefix): row["recorded"] for row in rows
    }["heartbeats"] == "whole"
    assert sum(row["records"] for row in rows) == sum(len(log.records(name)) for name in ALL_TOPICS)
    # From the files, and from the topics as they are: a claim tells what its driver ran under.
    for source in ([str(folder)], where):
        found = _run("replay", *source)
        assert found["difference"] is None
        assert (found["same"], found["generations"], found["settings_assumed"]) == (True, 2, [])
        assert found["cuts"] >= CUTS_MIN
    judged = _run("verify", str(folder))
    # All but the last group that joined have handed over at a join and at a leave.
    assert judged["counts"]["handovers"] >= 2 * (int(next(names).removeprefix("group-")) - 1)
    assert judged["counts"]["rejects"] == {"not_json": 1}
    _change(folder)
    changed = _run("replay", str(folder), code=ExitCode.VERDICT_NEGATIVE)
    assert changed["difference"]["topic"] == log.names.name("decisions")
    assert changed["difference"]["field"] == "clock_ms"
    broken = _run("verify", str(folder), code=ExitCode.VERDICT_NEGATIVE)
    numbers = {each["number"] for each in broken["invariants"] if each["outcome"] == "broken"}
    assert numbers == {"S2", "S6"}


def _cuts(log: Log) -> int:
    """Return in how many batches of a shard something was decided; how many share one is chance."""
    cuts = (body["cut"] for body in log.bodies("decisions"))
    return len({(cut["generation"], cut["shard"], cut["step"]) for cut in cuts})


def _run(*words: str, code: ExitCode = ExitCode.OK) -> Any:
    """Run a command and return its JSON."""
    ended = CliRunner().invoke(app, [*words, "-o", "json"])
    assert ended.exit_code == code, (ended.exception, ended.output)
    return orjson.loads(ended.stdout)


def _change(folder: Path) -> None:
    """Change one digit of one decision."""
    path = folder / "decisions-0.jsonl.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    lines[9] = re.sub(rb'clock_ms\\":\d+', rb'clock_ms\\":7', lines[9])
    path.write_bytes(gzip.compress(b"".join(lines)))


def _come_and_go(fleet: Fleet, log: Log, groups: Sequence[str]) -> None:
    """In each group two clients join one after the other, and the first one leaves."""
    firsts = [fleet.join("c1", group) for group in groups]
    for first in firsts:
        log.await_record("assignments", held_by(first))
    seconds = [fleet.join("c2", group) for group in groups]
    for second in seconds:
        log.await_record("assignments", functools.partial(_holds, client=second, queues=2))
    for first in firsts:
        fleet.leave(first)
    for second in seconds:
        log.await_record("assignments", functools.partial(_holds, client=second, queues=4))


def _holds(record: object, client: Client, queues: int) -> bool:
    body = body_of(record)
    if (body.get("group"), body.get("client_id")) != (client.group, client.client_id):
        return False
    return [each["state"] for each in body.get("assigned", ())] == ["held"] * queues
