"""Where a group begins, in the judge's eyes: by RocketMQ's start policy, by ours, at its end."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.core.model import MessageQueue
from fairlead.verify.history import Consumed, Start
from fairlead.verify.judgement import Journals, Judgement, judge_recording
from strategies.registry import STRATEGIES
from tests.kit.journaled_world import Life
from tests.kit.judgements import ruling_of, told_by

GROUP, TOPIC = "orders", "orders"
END = 1_000
"""What the bridge of these worlds says: each queue begins at 0 and ends here."""
QUEUES, GROWN = 4, 6


def _life(policy: str) -> Life:
    """A group begins at its end, its topic grows, a member comes and one dies."""
    life = Life()
    world = life.world
    world.topics.rule(GROUP, "start_policy", policy)
    for name in ("first", "second"):
        life.join(name, consume_from="last_offset")
    world.pass_seconds(6)
    world.queues[TOPIC] = GROWN
    world.topics.route(TOPIC, GROWN)
    world.pass_seconds(6)
    third = life.join("third", consume_from="last_offset")
    world.pass_seconds(9)
    life.kill(third)
    world.pass_seconds(16)
    life.close()
    return life


def _starts(life: Life) -> dict[int, int]:
    """Return queue id -> where it was read first."""
    starts = [
        record
        for journal in life.diary.journals()
        for record in journal.records
        if isinstance(record, Start)
    ]
    found: dict[int, int] = {}
    for start in sorted(starts, key=lambda each: each.t_ns):
        found.setdefault(start.queue.queue_id, start.offset)
    return found


def _read(life: Life) -> dict[int, int]:
    """Return queue id -> the last message that was processed."""
    last: dict[int, int] = {}
    for journal in life.diary.journals():
        for record in journal.records:
            if isinstance(record, Consumed):
                number = record.queue.queue_id
                last[number] = max(last.get(number, 0), record.offset)
    return last


def _judge(life: Life, folder: Path, without: Mapping[int, int] | None = None) -> Judgement:
    """Judge a life with its journals and its source; ``without``: queue id -> one left out."""
    recording = life.record(folder)
    runs = {number: ((0, last),) for number, last in _read(life).items()}
    recording = replace(recording, manifest=replace(recording.manifest, sources={TOPIC: runs}))
    gone = {
        (MessageQueue(TOPIC, "main", number), offset) for number, offset in (without or {}).items()
    }
    journals = [
        replace(
            journal,
            records=tuple(
                each
                for each in journal.records
                if not isinstance(each, Consumed) or (each.queue, each.offset) not in gone
            ),
        )
        for journal in life.diary.journals()
    ]
    return judge_recording(recording, STRATEGIES, Journals(journals, GROUP, life.diary.steps))


@pytest.mark.parametrize("policy, added", [("fairlead", 0), ("rocketmq", END)])
def test_what_stands_before_the_start_is_not_missed(
    tmp_path: Path, policy: str, added: int
) -> None:
    """Nobody should have read it: not of the group's queues, nor, RocketMQ's way, of added ones."""
    life = _life(policy)
    ends, low = dict.fromkeys(range(QUEUES), END), dict.fromkeys(range(QUEUES, GROWN), added)
    assert _starts(life) == ends | low
    judgement = _judge(life, tmp_path / "r")
    assert told_by(judgement) == ""
    assert judgement.passed
    assert "messages of the source" in ruling_of(judgement, "S5").looked_at
    assert judgement.counts["replayed"] >= 3


def test_what_is_left_out_behind_the_start_is(tmp_path: Path) -> None:
    """One message behind the start, and one of an added queue that begins at its minimum."""
    life = _life("fairlead")
    told = told_by(_judge(life, tmp_path / "r", {1: END + 2, QUEUES: 3}))
    for queue, offset in ((1, END + 2), (QUEUES, 3)):
        place = f"orders/main/{queue}"
        text = f"S5: {place}: nobody processed 1 messages, the first is {place}@{offset}"
        assert text in told
