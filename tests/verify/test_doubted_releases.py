"""How the judge sees releases beyond every known end, which the engine puts aside."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from fairlead.verify.judgement import Judgement, judge_recording
from strategies.registry import STRATEGIES
from tests.kit.journaled_world import Life, forge
from tests.kit.judgements import told_by
from tests.kit.memory_topics import bounds

GROUP, TOPIC = "orders", "orders"
END = 1_000
"""What the bridge has told so far."""


@pytest.fixture
def gone(monkeypatch: pytest.MonkeyPatch) -> Life:
    """A client leaves beyond the end that is known: its word of the new end is still on its way."""
    monkeypatch.setattr("tests.kit.client.BOUNDS_END", 10**9)
    life = Life()
    leaver = life.join("leaver")
    life.world.pass_seconds(4)
    life.join("stays")
    # For longer than a margin: else it would be gated by no release that is put aside.
    life.world.pass_seconds(30)
    for queue in leaver.held:
        leaver.processed[queue] = END + 7
    leaver.leave()
    return life


@pytest.fixture
def left(gone: Life) -> Life:
    """The same, and a bridge tells an end that its releases lie within."""
    gone.world.pass_seconds(1)
    _answer(gone, END + 50)
    return gone


def _answer(life: Life, end: int, times: int = 1) -> None:
    """Let a bridge tell the end of every queue, so many times."""
    told = bounds(GROUP, TOPIC, 4)
    queues = [{**each, "max": end} for each in told["queues"]]
    for _ in range(times):
        life.world.topics.append("offsets", 0, b'["orders","orders"]', {**told, "queues": queues})
        life.world.pass_seconds(5)


def _judge(life: Life, folder: Path, rows: Any = None) -> Judgement:
    return judge_recording(life.record(folder, rows), STRATEGIES)


def test_successor_that_waits_for_a_doubted_release(left: Life, tmp_path: Path) -> None:
    """Its add names the last believed position; it begins where the release says."""
    decided = [
        move
        for body in left.world.decisions
        for move in body["moves"]
        if move["stage"] == "gated" and move["client_id"] == "stays"
    ]
    assert decided, "somebody waits for the release"
    assert {move["position"][1] for move in decided} < {*range(END + 1)}
    assert told_by(_judge(left, tmp_path / "r")) == ""


def test_the_same_with_a_known_end(left: Life, tmp_path: Path) -> None:
    """Had somebody told that end before, the release was to be believed at once."""
    rows = left.rows()

    def farther(body: dict[str, Any]) -> bool:
        for each in body["queues"]:
            each["max"] = END + 50
        return True

    forge(rows, "offsets", farther)
    told = told_by(_judge(left, tmp_path / "r", rows))
    assert "starts below the position reached: messages are read again" in told


@pytest.mark.parametrize("answers", [2, 3])
def test_a_refused_position_is_a_release_all_the_same(
    gone: Life, tmp_path: Path, answers: int
) -> None:
    """That its sender has stopped is believed, and the queue goes on below: nobody is accused."""
    gone.world.pass_seconds(1)
    _answer(gone, END, answers)
    assert any("position_out_of_bounds" in body["alarms"] for body in gone.world.decisions)
    assert told_by(_judge(gone, tmp_path / "r")) == ""


def test_a_flood_of_forged_releases(gone: Life, tmp_path: Path) -> None:
    """What gives way to newer words is refused: nobody reached it."""
    topics = gone.world.topics
    (place, rows) = next(
        each for each in topics.rows.items() if each[0][0] == "t.releases" and each[1]
    )
    body = orjson.loads(rows[-1].value or b"")
    for more in range(40):
        forged = {**body, "position": [0, 10**6 + more]}
        topics.append("releases", place[1], rows[-1].key, forged)
    gone.world.pass_seconds(1)
    _answer(gone, END, 3)
    assert told_by(_judge(gone, tmp_path / "r")) == ""


def test_progress_that_invents_an_end_of_its_own(gone: Life, tmp_path: Path) -> None:
    """A liar names position and end alike, and its successor begins below: nobody is accused."""
    liar = gone.join("liar")
    gone.world.pass_seconds(20)
    assert liar.held
    for queue in liar.held:
        liar.processed[queue] = 10**9 + 1
    gone.world.pass_seconds(3)
    liar.leave()
    gone.world.pass_seconds(1)
    _answer(gone, END, 4)
    told = [body for body in gone.world.decisions if "position_out_of_bounds" in body["alarms"]]
    assert any(cause.get("client_id") == "liar" for body in told for cause in body["cause"])
    assert told_by(_judge(gone, tmp_path / "r")) == ""
