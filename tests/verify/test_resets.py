"""Resets in the judge's eyes: where they may lie, and that somebody follows them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from fairlead.core.model import MessageQueue
from fairlead.verify.history import Consumed, Journal, Start
from fairlead.verify.judgement import Journals, Judgement, judge_recording
from strategies.registry import STRATEGIES
from tests.kit.journaled_world import Life
from tests.kit.judgements import told_by
from tests.kit.memory_topics import bounds, shard_of

GROUP, TOPIC = "orders", "orders"


def _reset(life: Life, queue: int, offset: int) -> None:
    """An operator lets a queue be read from an offset."""
    key = orjson.dumps([GROUP, "reset", TOPIC, "main", queue])
    body = {"kind": "reset", "group": GROUP, "queue": [TOPIC, "main", queue], "offset": offset}
    life.world.topics.append("control", shard_of(GROUP), key, body | {"by": "alice"})


def _tell_bounds(life: Life, first: int, end: int) -> None:
    """A bridge says where all queues begin and end."""
    told = bounds(GROUP, TOPIC, 4)
    queues = [{**queue, "min": first, "max": end} for queue in told["queues"]]
    key = orjson.dumps([TOPIC, GROUP])
    life.world.topics.append("offsets", 0, key, {**told, "queues": queues})


@pytest.fixture
def life() -> Life:
    """Two clients; one came later. The bounds are 200 and 1,000."""
    life = Life()
    life.join("first")
    life.world.pass_seconds(4)
    life.join("second")
    _tell_bounds(life, 200, 1_000)
    life.world.pass_seconds(5)
    return life


def _judge(life: Life, folder: Path) -> Judgement:
    return judge_recording(life.record(folder), STRATEGIES)


QUEUE = MessageQueue(TOPIC, "main", 1)


@pytest.fixture
def followed(life: Life) -> Life:
    """Its clients work, and follow a reset forward and one back on their way."""
    for offset, seconds in ((600, 9), (590, 15)):
        _reset(life, QUEUE.queue_id, offset)
        life.world.pass_seconds(seconds)
    life.close()
    return life


def _processed(life: Life, queue: MessageQueue) -> list[Consumed]:
    """Return what was processed of a queue, in the order of time."""
    found = [
        each
        for journal in life.diary.journals()
        for each in journal.records
        if isinstance(each, Consumed) and each.queue == queue
    ]
    return sorted(found, key=lambda each: each.t_ns)


def _judge_journals(life: Life, folder: Path, journals: Sequence[Journal]) -> str:
    recording = life.record(folder)
    runs = {
        number: ((0, max(each.offset for each in _processed(life, queue))),)
        for number in range(4)
        if _processed(life, queue := MessageQueue(TOPIC, "main", number))
    }
    recording = replace(recording, manifest=replace(recording.manifest, sources={TOPIC: runs}))
    given = Journals(journals, GROUP, life.diary.steps)
    return told_by(judge_recording(recording, STRATEGIES, given))


def test_what_a_reset_allows_is_no_repetition_and_no_hole(followed: Life, tmp_path: Path) -> None:
    """What a reset lets be read again, or left out, is no repetition and no hole."""
    offsets = [each.offset for each in _processed(followed, QUEUE)]
    assert len(set(offsets)) < len(offsets) < max(offsets)
    assert _judge_journals(followed, tmp_path / "r", followed.diary.journals()) == ""


@pytest.mark.parametrize("offset, reading", [(5, 0), (602, 0), (602, 1)])
def test_a_gap_beside_a_reset(followed: Life, tmp_path: Path, offset: int, reading: int) -> None:
    """What is left out of one reading is missed, though another reading has it."""
    gone = [each for each in _processed(followed, QUEUE) if each.offset == offset][reading]
    journals = [
        replace(each, records=tuple(record for record in each.records if record is not gone))
        for each in followed.diary.journals()
    ]
    told = _judge_journals(followed, tmp_path / "r", journals)
    assert told == f"S5: {QUEUE}: nobody processed 1 messages, the first is {QUEUE}@{offset}"


def test_a_start_beside_a_reset(followed: Life, tmp_path: Path) -> None:
    """Who starts behind the place that was asked for has skipped messages."""
    journals = [
        replace(
            each,
            records=tuple(
                replace(record, offset=601)
                if isinstance(record, Start) and record.offset == 600
                else record
                for record in each.records
            ),
        )
        for each in followed.diary.journals()
    ]
    told = _judge_journals(followed, tmp_path / "r", journals)
    assert f"S5: {QUEUE}: 1 messages from 600 on were skipped" in told


def _reasons(judgement: Judgement) -> str:
    return next(each.reason for each in judgement.rulings if each.number == "S5")


@pytest.mark.parametrize(
    "offset, told",
    [
        (700, ""),
        (200, ""),
        (1_000, ""),
        (
            199,
            "to 199, and its first message is 200: the topic no longer holds the messages between",
        ),
        (1_001, "to 1001, beyond its end 1000: messages are skipped"),
    ],
)
def test_a_reset_start_lies_within_the_bounds(
    life: Life, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offset: int, told: str
) -> None:
    """A start at a reset lies between the first message that is kept and the end."""
    # Clients that tell where their queue ends would be believed.
    monkeypatch.setattr("tests.kit.client.BOUNDS_END", 10**9)
    _reset(life, 1, offset)
    life.world.pass_seconds(64)
    _tell_bounds(life, 200, 1_000)
    life.world.pass_seconds(2)
    judgement = _judge(life, tmp_path / "r")
    assert told_by(judgement) == (told and f"S5: orders/main/1 starts at the reset {told}")
    ruling = next(each for each in judgement.rulings if each.number == "S5")
    assert "1 start at a reset" in ruling.looked_at


def test_an_unknown_end_accuses_nobody(life: Life, tmp_path: Path) -> None:
    """A queue may have grown since its last known end: the judge accuses nobody, and says why."""
    _reset(life, 1, 4_000)
    life.world.pass_seconds(4)
    judgement = _judge(life, tmp_path / "r")
    assert told_by(judgement) == ""
    assert "nobody reported the end of their queues since" in _reasons(judgement)


def test_queue_that_does_not_exist(life: Life, tmp_path: Path) -> None:
    """A reset of a queue that no route has gets a dead letter, and nobody follows it."""
    _reset(life, 77, 5)
    life.world.pass_seconds(4)
    judgement = _judge(life, tmp_path / "r")
    assert told_by(judgement) == ""
    assert judgement.counts["rejects"] == {"unknown_queue": 1}
    assert "orders/main/77" not in _reasons(judgement)


def test_a_reset_that_is_not_followed_is_found(life: Life, tmp_path: Path) -> None:
    """A reset that is read while its queue's owner works on is found when it was due."""
    life.world.pass_seconds(80)
    rows = life.rows()
    # As if it had stood there long before.
    _reset(life, 1, 300)
    log = life.world.topics.rows["t.control", shard_of(GROUP)]
    rows["control", shard_of(GROUP)] = [log[0]]
    body = next(
        body
        for row in reversed(rows["decisions", 0])
        if (body := orjson.loads(row.value or b""))["group"] == GROUP
    )
    body["cut"]["positions"]["t.control"] = {str(shard_of(GROUP)): 1}
    at = max(
        at
        for at, row in enumerate(rows["decisions", 0])
        if orjson.loads(row.value or b"")["group"] == GROUP
    )
    rows["decisions", 0][at] = rows["decisions", 0][at]._replace(value=orjson.dumps(body))
    judgement = judge_recording(life.record(tmp_path / "r", rows), STRATEGIES)
    assert "S5: the engine did not follow the reset of orders/main/1 at t.control/" in told_by(
        judgement
    )
    assert "works on" in told_by(judgement)
