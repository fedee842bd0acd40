"""A recorded folder is read as the topics that it was made of, by the clock of its own records."""

from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.errors import ExitCode, UsageError
from fairlead.kafka.missing_record import WhyMissing, why_missing
from fairlead.observed.reading import read_live_group
from fairlead.recording import open_recording
from fairlead.recording.recording_source import DumpSource
from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import ALL_TOPICS
from strategies.registry import STRATEGIES
from tests.kit.live_group import GROUP, TICK_MS
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import NAMES
from tests.kit.recordings import record, rows_of, settings_of, write_recording
from tests.kit.world import World, world_of


@pytest.fixture(scope="module")
def world() -> World:
    """A group at rest."""
    return world_of("c1", "c2", "c3")


@pytest.fixture(scope="module")
def folder(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of its topics."""
    return record(world, tmp_path_factory.mktemp("run") / "recording").folder


def _dump(folder: Path) -> DumpSource:
    return DumpSource(open_recording(folder))


def test_each_topic_has_its_partitions_and_rows(world: World, folder: Path) -> None:
    """Each topic is there with its partitions and its rows, from the first or since a time."""
    source, rows = _dump(folder), rows_of(world)
    assert {
        (suffix, number) for suffix in ALL_TOPICS for number in source.partitions_of(suffix)
    } == rows.keys()
    for (suffix, number), wanted in rows.items():
        assert source.read(suffix, [number]) == wanted
    whole = rows["heartbeats", 0]
    since_ms = whole[len(whole) // 2].append_ms
    later = [row for row in whole if row.append_ms >= since_ms]
    assert source.read("heartbeats", [0], since_ms) == later


def test_now_is_when_the_newest_record_was_appended(world: World, folder: Path) -> None:
    """It is now when the newest record of any topic was appended."""
    source = _dump(folder)
    assert source.now_ms() == world.topics.now_ms
    assert source.newest_ms("heartbeats", 0) == rows_of(world)["heartbeats", 0][-1].append_ms
    assert source.newest_ms("rejects", 0) is None
    assert source.tick_ms == TICK_MS


def test_a_recorded_group_is_the_live_one(world: World, folder: Path) -> None:
    """A group of a recording is the group that was live."""
    live = read_live_group(MemorySource(world.topics), GROUP, STRATEGIES, TICK_MS)
    dumped = read_live_group(_dump(folder), GROUP, STRATEGIES, TICK_MS)
    assert dumped.planned == live.planned
    assert len(dumped.planned.owners) == 17


def test_a_record_is_found_at_its_place(world: World, tmp_path: Path) -> None:
    """A record is found at its place, or the answer says why it is not there."""
    rows = rows_of(world)
    beats, releases, routes = (
        (NAMES.name("heartbeats"), 0),
        (NAMES.name("releases"), 0),
        (NAMES.name("routes"), 0),
    )
    rows["heartbeats", 0] = rows["heartbeats", 0][5:]
    route = rows["routes", 0][0]
    rows["routes", 0] = [route._replace(offset=3)]
    source = DumpSource(write_recording(tmp_path / "cut", rows, settings_of(world)))
    kept = rows["heartbeats", 0][1]
    wanted: dict[tuple[str, int, int], RawRecord | WhyMissing] = {
        (*beats, 4): "retention",
        (*beats, 6): kept,
        (*beats, 10**6): "not_yet",
        (*routes, 1): "compacted",
        (*routes, 3): route._replace(offset=3),
        (*releases[:1], 7, 0): "never",
        ("elsewhere", 0, 0): "never",
    }
    assert source.records_at(wanted.keys()) == wanted


@pytest.mark.parametrize(
    "suffix, offset, bounds, wanted",
    [
        ("heartbeats", 4, (5, 9), "retention"),
        ("heartbeats", 6, (5, 9), "never"),
        ("heartbeats", -1, (5, 9), "never"),
        ("heartbeats", 9, (5, 9), "not_yet"),
        ("control", 4, (5, 9), "compacted"),
        ("control", 6, (5, 9), "compacted"),
        ("control", 6, None, "never"),
        (None, 6, (5, 9), "never"),
    ],
)
def test_the_reason_for_a_missing_record_is_given(
    suffix: str | None, offset: int, bounds: tuple[int, int] | None, wanted: str
) -> None:
    """What a topic keeps tells why an offset of it has no record."""
    assert why_missing(suffix, offset, bounds) == wanted


def _run(*words: str | Path) -> tuple[int, str]:
    ended = CliRunner().invoke(app, [str(word) for word in words])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended.exit_code, ended.stdout


def test_commands_work_on_a_recording(folder: Path) -> None:
    """`group check` and `plan` work on a recording as they do on a live cluster."""
    code, text = _run("group", "check", GROUP, "--dump", folder)
    assert (code, text) == (ExitCode.OK, "orders: no problem (3 members, 17 queues)\n")
    code, text = _run("group", "check", GROUP, "--dump", folder, "-o", "json")
    said = orjson.loads(text)
    assert code == ExitCode.OK
    assert (said["verdict"], said["phase"], said["members"]) == ("safe", "stable", 3)
    assert (said["problem_list"], said["notes"], said["engine"]["silent"]) == ([], [], False)
    code, text = _run("group", "check", "--all", "--dump", folder, "-o", "jsonl")
    assert [orjson.loads(line)["group"] for line in text.splitlines()] == [GROUP]
    code, text = _run("plan", GROUP, "--dump", folder, "--join", "c9", "-o", "json")
    plan = orjson.loads(text)
    assert code == ExitCode.OK
    assert sum(len(member["after"]) for member in plan["member_plans"]) == 17


@pytest.mark.parametrize(
    "words, told",
    [
        (["--bootstrap", "nowhere:1"], "--bootstrap names a cluster"),
        (["--topic-prefix", "other."], "--topic-prefix names a cluster"),
    ],
)
def test_a_cluster_beside_a_recording_is_refused(folder: Path, words: list[str], told: str) -> None:
    """A cluster beside a recording is refused, and so is a group that the recording lacks."""
    with pytest.raises(UsageError, match=told):
        _run("plan", GROUP, "--dump", folder, *words)
    with pytest.raises(UsageError, match="there is no group order in the recording"):
        _run("plan", "order", "--dump", folder)
    with pytest.raises(UsageError, match="the group is that of --file"):
        _run("plan", "--file", "x", "--dump", folder)
