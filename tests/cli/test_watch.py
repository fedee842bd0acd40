"""`fairlead watch`: the screen fits its terminal and says what is under way; lines elsewhere."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson
import pytest
from kafka import KafkaProducer
from typer.testing import CliRunner

from fairlead.cli.main import app
from fairlead.cli.render.decision import decision_line
from fairlead.cli.render.watch_screen import Moment, screen_lines
from fairlead.errors import UsageError
from fairlead.observed.group_standing import GroupStanding
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.wire.topics import TopicNames
from tests.kit.decision_bodies import encoded_decision
from tests.kit.live_group import GROUP
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import NAMES, PARTITIONS
from tests.kit.moving_world import moving_life, recorded
from tests.kit.observations import handing_over
from tests.kit.world import World

ROOT = Path(__file__).parents[2]
SIZES = [(200, 50), (80, 24), (40, 12)]


def _view(world: World) -> tuple[GroupStanding, list[dict[str, Any]]]:
    """Return a group of a world as the view has it, and its decisions."""
    source, view = MemorySource(world.topics), ObservedGroups(NAMES, PARTITIONS, 3_600_000)
    for suffix in ("routes", "control", "assignments", "heartbeats", "releases", "decisions"):
        view.apply(source.read(suffix, source.partitions_of(suffix)))
    found = view.group(GROUP)
    assert found is not None
    return found, [each.to_json() for each in view.decisions(GROUP) or ()]


def _screen(world: World, size: tuple[int, int], *, silent_ms: int = 0) -> list[str]:
    found, feed = _view(world)
    now_ms = world.topics.now_ms
    return screen_lines(GROUP, found, feed, Moment(now_ms + silent_ms, now_ms), size)


@pytest.mark.parametrize("size", SIZES)
def test_the_screen_fits(size: tuple[int, int]) -> None:
    """No line is wider and no screen higher than the terminal, and what is under way is on it."""
    lines = _screen(handing_over(30), size)
    assert len(lines) <= size[1]
    assert max(map(len, lines)) <= size[0]
    text = "\n".join(lines)
    assert "handing_over" in text
    assert "gated" in text or size == SIZES[-1]
    assert "last record 0 ms ago" in text


def test_a_large_screen_shows_queues_and_decisions() -> None:
    """Where there is room, there is each queue with its owner, and the newest decisions."""
    world = handing_over(30)
    text = "\n".join(_screen(world, (200, 60)))
    assert all(f"orders/main/{number} " in text for number in range(30))
    assert "client_joined c3" in text
    assert "10 in handover" in text or "in handover" in text


def test_a_log_that_stands_still_is_said_to() -> None:
    """The screen says so when the log stands still, and when it has read nothing of a group."""
    assert "6.0 s ago (nothing comes" in _screen(handing_over(30), (200, 50), silent_ms=6_000)[0]
    lines = screen_lines(GROUP, None, [], Moment(0, 0), (80, 24))
    assert [line.strip() for line in lines] == [
        "orders  last record none yet",
        "no record of it was read",
    ]
    strange = "there is no group orders (The nearest is order)"
    assert screen_lines(GROUP, None, [], Moment(0, 0, strange), (80, 24))[1].strip() == strange


def test_a_decision_in_a_line() -> None:
    """When, which, what led to it, and who gets what; what only goes on says who starts."""
    body: dict[str, Any] = orjson.loads(encoded_decision(41, []))
    assert (
        decision_line({**body, "append_ms": body["at_ms"]})
        == "10:13:20Z 3.41 stable: client_joined 10.0.0.7@4121#1"
    )
    gains = [
        {"queue": ["orders", "main", n], "stage": "gated", "client_id": "c9", "epoch": [3, 41]}
        for n in (1, 0, 2)
    ]
    body |= {"moves": gains, "alarms": ["mute_member"]}
    assert decision_line({**body, "append_ms": body["at_ms"]}).endswith(
        ": c9 gets orders/main/0-2: alarms mute_member"
    )
    body |= {"previous_epoch": [3, 41]}
    assert "c9 starts orders/main/0-2" in decision_line({**body, "append_ms": body["at_ms"]})


def test_lines_where_there_is_no_terminal(bootstrap: str, topics: TopicNames) -> None:
    """Each decision from now on is a record in a line; Ctrl-C ends it with code 0 and no word."""
    command = [sys.executable, "-m", "fairlead", "watch", "orders", "-o", "jsonl"]
    place = ["--bootstrap", bootstrap, "--topic-prefix", topics.prefix]
    process = subprocess.Popen(
        [*command, *place], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stderr is not None
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    try:
        assert "there is no group orders" in process.stderr.readline()
        assert process.stderr.readline() == "watching orders\n"
        now_ms = time.time_ns() // 1_000_000
        for number in (41, 42):
            value = encoded_decision(number, []).replace(b"1781000000000", b"%d" % now_ms)
            producer.send(topics.name("decisions"), key=b"orders", value=value).get(30)
        found = [orjson.loads(process.stdout.readline()) for _ in range(2)]
        assert [each["epoch"] for each in found] == [[3, 41], [3, 42]]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
        producer.close()
    assert (process.returncode, out, err) == (0, "", "")


def test_a_recording_is_watched_line_by_line(tmp_path: Path) -> None:
    """Each decision of a recording is a line, or a record; `--since` leaves out what is older."""
    folder = recorded(moving_life(), tmp_path / "recording").folder
    words = ["watch", GROUP, "--dump", str(folder)]
    told = CliRunner().invoke(app, words, catch_exceptions=False).stdout.splitlines()
    assert "client_joined c1" in told[0]
    assert len(told) > 8
    rows = CliRunner().invoke(app, [*words, "-o", "jsonl"], catch_exceptions=False).stdout
    whole = [orjson.loads(line) for line in rows.splitlines()]
    assert [decision_line(each) for each in whole] == told
    latest = CliRunner().invoke(app, [*words, "--since", "6s"], catch_exceptions=False).stdout
    assert 0 < len(latest.splitlines()) < len(told)
    assert told[-len(latest.splitlines()) :] == latest.splitlines()
    with pytest.raises(UsageError, match="nobody"):
        CliRunner().invoke(app, ["watch", "nobody", *words[2:]], catch_exceptions=False)
