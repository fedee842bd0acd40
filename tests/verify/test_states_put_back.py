"""Replays of recordings in which a state was lost, or an older one put back, or taken twice."""

from pathlib import Path
from random import Random

import orjson
import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.errors import ExitCode, NothingProvedError
from fairlead.recording import RecordingFolder
from fairlead.replay.comparison import Comparison
from fairlead.verify.replaying import Replay
from fairlead.wire.raw import RawRecord
from strategies.registry import STRATEGIES
from tests.kit.journaled_world import Rows, rich_life
from tests.kit.recordings import record, rows_of, settings_of, write_recording
from tests.kit.world import World

SHARD = 0
"""The shard of the group orders."""


def _replay(recording: RecordingFolder) -> Comparison:
    return Replay.of(recording, STRATEGIES).run()


def _lived(seconds: int = 12, world: World | None = None) -> World:
    """Clients come and leave."""
    if world is None:
        world = World()
        world.topics.tick(1)
    chance = Random(11)
    for second in range(seconds):
        if second % 4 == 0:
            world.join(f"client-{len(world.clients)}")
        if second == 9:
            next(client for client in world.clients if not client.gone).leave()
        world.pass_seconds(1, chance)
    return world


def _lost(window_ms: int = 603_000) -> World:
    """A state is lost; the next one is rebuilt, and life goes on."""
    world = _lived()
    world.lose_state(window_ms)
    world.pass_seconds(20)
    return _lived(world=world)


def test_records_around_a_loss_come_out_of_a_replay(tmp_path: Path) -> None:
    """What was written before and after a checkpoint was lost comes out of a replay."""
    comparison = _replay(record(_lost(), tmp_path / "r"))
    assert str(comparison.difference) == "None"
    assert (comparison.generations, comparison.not_compared) == (2, ())


def test_lost_and_shortened_afterwards(tmp_path: Path) -> None:
    """If the log begins behind the first state, only what was written of it is left out."""
    world = _lost(window_ms=6_000)
    rows = rows_of(world)
    first = max(2, world.begin["t.heartbeats"][SHARD] - 1)
    rows["heartbeats", SHARD] = rows["heartbeats", SHARD][first:]
    comparison = _replay(write_recording(tmp_path / "r", rows, settings_of(world)))
    assert str(comparison.difference) == "None"
    (left_out,) = comparison.not_compared
    assert (left_out.shard, left_out.generations) == (SHARD, (1,))
    assert "does not hold every row below" in left_out.reason
    assert comparison.cuts >= 8


def test_a_difference_behind_what_is_left_out(tmp_path: Path) -> None:
    """What is left out hides nothing of what comes after it."""
    world = _lost(window_ms=6_000)
    rows = rows_of(world)
    first = max(2, world.begin["t.heartbeats"][SHARD] - 1)
    rows["heartbeats", SHARD] = rows["heartbeats", SHARD][first:]
    at = _changed(rows, world.generation)
    comparison = _replay(write_recording(tmp_path / "r", rows, settings_of(world)))
    assert comparison.difference is not None
    assert (comparison.difference.topic, comparison.difference.offset) == ("t.decisions", at)


def _changed(rows: Rows, generation: int) -> int:
    """Change the clock in the last decision of a generation about the group; return its offset."""
    log = rows["decisions", 0]
    for at in range(len(log) - 1, -1, -1):
        body = orjson.loads(log[at].value or b"")
        if (body["group"], body["cut"]["generation"]) == ("orders", generation):
            body["clock_ms"] += 1
            log[at] = log[at]._replace(value=orjson.dumps(body))
            return at
    raise AssertionError("it decided nothing")


def test_records_of_an_older_state_come_out_of_a_replay(tmp_path: Path) -> None:
    """An older state is put back: what both lives of it wrote comes out of a replay."""
    world = _lived()
    stored, read = dict(world.stored), dict(world.read)
    _lived(world=world)
    world.stored, world.read, world.planned = stored, read, {}
    world.start_driver()
    world.pass_seconds(8)
    comparison = _replay(record(_lived(world=world), tmp_path / "r"))
    assert str(comparison.difference) == "None"
    assert (comparison.generations, comparison.undecided) == (2, 0)


def _overlapping() -> tuple[Rows, World]:
    """A driver on a copy takes over while another one's decision is on its way to the topics.

    Return the topics as they are if that decision, and the records that go with it, come late.
    """
    world = _lived()
    stored, read = dict(world.stored), dict(world.read)
    world.join("on-its-way")
    before = {place: len(log) for place, log in world.topics.written.items()}
    world.run(SHARD)
    late = {place: log[before.get(place, 0) :] for place, log in world.topics.written.items()}
    assert any(late.values())
    for place, log in world.topics.written.items():
        del log[before.get(place, 0) :]
    world.stored, world.read, world.planned, world.fresh = stored, read, {}, []
    world.start_driver()
    world.pass_seconds(4)
    for place, log in late.items():
        world.topics.written[place] += log
    world.pass_seconds(4)
    return rows_of(world), world


def test_two_drivers_are_compared_apart(tmp_path: Path) -> None:
    """A driver that was superseded writes on for a while: each of the two is compared."""
    rows, world = _overlapping()
    generations = [
        orjson.loads(row.value or b"")["cut"]["generation"] for row in rows["decisions", 0]
    ]
    assert sorted(generations) != generations
    comparison = _replay(write_recording(tmp_path / "r", rows, settings_of(world)))
    assert str(comparison.difference) == "None"
    assert comparison.generations == 2


@pytest.mark.parametrize("generation", [1, 2])
def test_two_drivers_differ(tmp_path: Path, generation: int) -> None:
    """What either of two drivers wrote is compared byte for byte, where they overlap too."""
    rows, world = _overlapping()
    at = _changed(rows, generation)
    difference = _replay(write_recording(tmp_path / "r", rows, settings_of(world))).difference
    assert difference is not None
    assert (difference.topic, difference.offset) == ("t.decisions", at)


def test_deletion_missing_where_drivers_overlap(tmp_path: Path) -> None:
    """Records that tell no driver have no order there, but none of them may be missing."""
    rows, world = _overlapping()
    deleted = [
        (place, row)
        for place, log in rows.items()
        for row in log
        if place[0] == "assignments" and row.value is None
    ]
    assert deleted
    (place, row), *_ = deleted
    rows[place] = [each for each in rows[place] if (each.key, each.value) != (row.key, None)]
    assert not _replay(write_recording(tmp_path / "r", rows, settings_of(world))).same


def test_what_is_left_out_is_named_with_its_reason(tmp_path: Path) -> None:
    """What is left out is named with its reason; if it is all, that is an exit code of its own."""
    world = _lost(window_ms=6_000)
    rows = rows_of(world)
    first = max(2, world.begin["t.heartbeats"][SHARD] - 1)
    rows["heartbeats", SHARD] = rows["heartbeats", SHARD][first:]
    write_recording(tmp_path / "part", rows, settings_of(world))
    ended = CliRunner().invoke(app, ["replay", str(tmp_path / "part")])
    assert ended.exit_code == ExitCode.OK
    lines = ended.stdout.splitlines()
    assert "NOT COMPARED: generations 1 in shard 0" in lines
    assert lines[-1] == "the same, byte for byte"
    ended = CliRunner().invoke(app, ["replay", str(tmp_path / "part"), "-o", "json"])
    (part,) = orjson.loads(ended.stdout)["not_compared"]
    assert (part["shard"], part["generation_list"]) == (SHARD, [1])
    ended = CliRunner().invoke(app, ["verify", str(tmp_path / "part")])
    assert "not compared: generations 1 in shard 0" in " ".join(ended.stdout.split())
    life = rich_life()
    alone = life.rows()
    alone["heartbeats", SHARD] = alone["heartbeats", SHARD][9:]
    alone["heartbeats", 1] = alone["heartbeats", 1][9:]
    life.record(tmp_path / "nothing", alone)
    with pytest.raises(NothingProvedError, match="does not hold every row") as raised:
        CliRunner().invoke(app, ["replay", str(tmp_path / "nothing")], catch_exceptions=False)
    assert "Record before retention deletes" in str(raised.value.remedy)


def test_decisions_whose_head_is_gone(tmp_path: Path) -> None:
    """If retention took the first decisions, the state behind them is not known: it is named."""
    world = _lost()
    rows = rows_of(world)
    gone: list[RawRecord] = rows["decisions", 0][:3]
    rows["decisions", 0] = rows["decisions", 0][3:]
    assert gone
    comparison = _replay(write_recording(tmp_path / "r", rows, settings_of(world)))
    assert str(comparison.difference) == "None"
    (left_out,) = comparison.not_compared
    assert (left_out.generations, "no decision of step" in left_out.reason) == ((1,), True)
