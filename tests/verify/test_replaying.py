"""A recorded world comes out of a replay of its files, and a difference is named by its field."""

from pathlib import Path
from random import Random

import orjson
import pytest

from fairlead.engine.drivers import UnknownStrategiesError
from fairlead.recording import RecordingFolder
from fairlead.replay.field_difference import first_field
from fairlead.replay.shard_replay import ReplayError
from fairlead.verify.replaying import Replay
from fairlead.wire.raw import RawRecord
from strategies.registry import STRATEGIES
from tests.kit.recordings import record, rows_of, settings_of, write_recording
from tests.kit.world import World


@pytest.fixture(scope="module")
def world() -> World:
    """Clients come, leave and die; the driver dies in the middle of a batch."""
    world = World()
    chance = Random(7)
    world.topics.tick(1)
    for second in range(24):
        if second % 4 == 0:
            world.join(f"client-{second}", ("orders", "a")[second % 8 == 4])
        if second == 10:
            world.clients[0].leave()
        if second == 13:
            world.topics.append("heartbeats", 0, b"orders", b"nonsense")
            for shard in (0, 1):
                world.join(f"late-{shard}", ("orders", "a")[shard])
                world.run(shard, killed_after=2)
            world.start_driver()
        world.pass_seconds(1, chance)
    return world


def body_of(row: RawRecord) -> bytes:
    """Return the value of a record that has one."""
    assert row.value is not None
    return row.value


def _replay(recording: RecordingFolder) -> Replay:
    return Replay.of(recording, STRATEGIES)


def test_a_recording_replays_to_the_same_bytes(world: World, tmp_path: Path) -> None:
    """What the files hold is run again to the same bytes, under what the claims tell."""
    ready = _replay(record(world, tmp_path / "recording"))
    seen = []
    comparison = ready.run(lambda entry: seen.append(entry.cut))
    assert str(comparison.difference) == "None"
    assert comparison.same
    assert (comparison.generations, comparison.undecided) == (2, 0)
    assert comparison.cuts >= 20
    assert len(seen) >= comparison.cuts
    assert ready.untold == ()
    assert ready.drivers.context(1, 2).engine_version == "0.0.test"


def test_field_is_named(world: World, tmp_path: Path) -> None:
    """A changed number in a decision is found, with the path of its field and both values."""
    rows = rows_of(world)
    log = rows["decisions", 0]
    at = next(at for at, row in enumerate(log) if at > 5 and b'"stage":"granted"' in body_of(row))
    body = orjson.loads(body_of(log[at]))
    body["clock_ms"] += 1
    log[at] = log[at]._replace(value=orjson.dumps(body))
    comparison = _replay(write_recording(tmp_path / "r", rows, settings_of(world))).run()
    difference = comparison.difference
    assert difference is not None
    assert (difference.topic, difference.offset) == ("t.decisions", log[at].offset)
    assert difference.expected is not None
    field = first_field(difference.expected.value, difference.got and difference.got.value)
    assert (field.path, field.expected) == ("clock_ms", str(body["clock_ms"] - 1))


def test_only_a_running_engine_may_leave_a_batch_incomplete(world: World, tmp_path: Path) -> None:
    """Of an engine that runs, the newest batch may be incomplete; of one that ended, it may not."""
    rows = rows_of(world)
    newest = rows["decisions", 0][-1]
    shard = orjson.loads(body_of(newest))["cut"]["shard"]
    group = newest.key
    lacking = 0
    for place, log in rows.items():
        if place[0] == "assignments":
            while log and log[-1].value and orjson.loads(log[-1].key or b"")[0].encode() == group:
                log.pop()
                lacking += 1
                break
    assert lacking, shard
    settings = settings_of(world)
    ended = _replay(write_recording(tmp_path / "ended", rows, settings)).run()
    running = _replay(write_recording(tmp_path / "running", rows, settings, running=True)).run()
    assert not ended.same
    assert running.unwritten >= ended.unwritten


def test_records_without_a_decision_yet_are_counted(world: World, tmp_path: Path) -> None:
    """Records at the end of a topic whose decision was not written yet are counted."""
    rows = rows_of(world)
    place, log = next(
        (place, log)
        for place, log in rows.items()
        if place[0] == "assignments" and log and log[-1].value and b'"add"' in log[-1].value
    )
    body = orjson.loads(body_of(log[-1]))
    body["epoch"] = [body["epoch"][0], body["epoch"][1] + 1000]
    log.append(log[-1]._replace(offset=log[-1].offset + 1, value=orjson.dumps(body)))
    comparison = _replay(write_recording(tmp_path / "r", rows, settings_of(world))).run()
    assert (comparison.same, comparison.undecided) == (True, 1), place


def test_an_unknown_strategy_is_named_with_its_generation(world: World, tmp_path: Path) -> None:
    """A driver's strategy that is not known here is named with its generation."""
    settings = settings_of(world)
    rows = rows_of(world)
    claim = rows["generations", 0][1]
    value = body_of(claim).replace(b'"AVG"', b'"AVG","MINE"')
    rows["generations", 0][1] = claim._replace(value=value)
    ready = _replay(write_recording(tmp_path / "r", rows, settings))
    with pytest.raises(UnknownStrategiesError) as raised:
        ready.run()
    assert (raised.value.generation, raised.value.missing) == (2, ("MINE",))


def test_claims_without_settings_run_under_the_manifest(world: World, tmp_path: Path) -> None:
    """Claims without settings run under those of the manifest, and the replay lists them."""
    rows = rows_of(world)
    for offset, row in enumerate(rows["generations", 0]):
        body = orjson.loads(body_of(row))
        del body["settings"]
        rows["generations", 0][offset] = row._replace(value=orjson.dumps(body))
    ready = _replay(write_recording(tmp_path / "r", rows, settings_of(world)))
    assert ready.untold == (1, 2)
    assert ready.run().same


def test_a_recording_without_its_first_rows_is_refused(world: World, tmp_path: Path) -> None:
    """A recording whose first heartbeats are gone cannot be run again, and says which."""
    rows = rows_of(world)
    rows["heartbeats", 0] = rows["heartbeats", 0][5:]
    recording = write_recording(tmp_path / "r", rows, settings_of(world))
    assert recording.gaps() == ["t.heartbeats/0"]
    with pytest.raises(ReplayError, match="does not hold every row"):
        _replay(recording).run()


@pytest.mark.parametrize(
    "expected, got, path, values",
    [
        (b'{"a":1}', b'{"a":2}', "a", ("1", "2")),
        (b'{"a":[{"b":1},{"b":2}]}', b'{"a":[{"b":1},{"b":3}]}', "a[1].b", ("2", "3")),
        (b'{"e":[1,2]}', b'{"e":[1,3]}', "e", ("[1,2]", "[1,3]")),
        (b'{"a":1}', b'{"a":1,"b":0}', "b", ("absent", "0")),
        (b'{"a":[{"b":1}]}', b'{"a":[]}', "a[0]", ('{"b":1}', "absent")),
        (b'{"a":1}', b'{"a": 1}', "", ('{"a":1}', '{"a": 1}')),
        (b'{"a":1}', b'{"a":true}', "a", ("1", "true")),
        (b"x", None, "", ("x", "absent")),
    ],
)
def test_the_first_field_that_differs_is_named(
    expected: bytes, got: bytes | None, path: str, values: tuple[str, str]
) -> None:
    """The first field that differs is named as a reject names one; lists of numbers are whole."""
    found = first_field(expected, got)
    assert (found.path, found.expected, found.got) == (path, *values)
