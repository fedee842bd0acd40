"""The recorded source: what it no longer holds, and what nobody began to read."""

from dataclasses import replace
from pathlib import Path

import pytest

from fairlead.core.model import Epoch, MessageQueue
from fairlead.recording import RecordingFolder
from fairlead.verify.history import History, Journal
from fairlead.verify.judgement import Journals, judge_recording
from fairlead.verify.reset_epochs import Eras
from fairlead.verify.tenures import read_tenures
from strategies.registry import STRATEGIES
from tests.kit.decisions import decision_of, move_of
from tests.kit.journaled_world import Life, rich_life
from tests.kit.judged_scene import FIRST, QUEUE, SECOND, Scene, done, start, stop
from tests.kit.judgements import told_by


def _read(source: range, *more: int) -> Scene:
    scene = Scene(source=source)
    scene.write("a", start(FIRST, 0, 10), *done(0, 1, 2, t=15), stop(FIRST, 3, 20))
    last = max(5, *(each + 1 for each in more)) if more else 5
    scene.write("b", start(SECOND, 3, 30), *done(3, 4, *more, t=35), stop(SECOND, last, 40))
    return scene


def test_head_is_gone() -> None:
    """What was processed before retention took it is nothing that the source does not know."""
    broken, told, counts = _read(range(2, 5)).judge()
    assert broken == (), told
    assert (counts["holes"], counts["messages_processed"]) == (0, 5)


@pytest.mark.parametrize(
    "scene, words",
    [
        (_read(range(2, 5), 7), "orders/main/0@7 is in a journal, but not in the source"),
        (_read(range(2, 6)), "nobody processed 1 messages, the first is orders/main/0@5"),
    ],
    ids=["beyond the end", "never processed"],
)
def test_violations_in_what_is_kept_are_found(scene: Scene, words: str) -> None:
    """What the source holds, or never held, is compared as ever."""
    broken, told, _ = scene.judge()
    assert broken == ("S5",), told
    assert words in told


@pytest.mark.parametrize(
    "why, reset, missed",
    [("first_offset", 0, [0, 1, 2, 3]), ("last_offset", 0, [2, 3]), ("release", 9, [2, 3])],
)
def test_granted_and_never_begun(why: str, reset: int, missed: list[int]) -> None:
    """Of a queue that nobody began all is missed that its grant does not leave out."""
    offset = 0 if why == "first_offset" else 2
    move = move_of(QUEUE, "granted", "a", FIRST, offset, why, reset=reset)
    decision = decision_of(FIRST, [move])
    eras = Eras(History(decisions=(decision,)), read_tenures((), ()))
    assert eras.unread(QUEUE, range(4)) == missed


def _with_sources(life: Life, folder: Path, sources: dict[str, int]) -> RecordingFolder:
    """Record a life, and topics with so many messages in each queue."""
    recording = life.record(folder)
    runs = {topic: dict.fromkeys(range(4), ((0, end - 1),)) for topic, end in sources.items()}
    return replace(recording, manifest=replace(recording.manifest, sources=runs))


def test_topic_that_nobody_began(tmp_path: Path) -> None:
    """The judge misses a granted and recorded topic without a line in any journal."""
    life = rich_life()
    bare = [Journal(name, ()) for name in sorted(life.diary.records)]
    given = Journals(bare, "orders", life.diary.steps)
    recording = _with_sources(life, tmp_path / "r", {"orders": 5, "payments": 5})
    judgement = judge_recording(recording, STRATEGIES, given)
    assert "orders/main/0: nobody processed 5 messages" in told_by(judgement)
    # Of the topic of another group this one owes nothing.
    assert "payments" not in told_by(judgement)


def test_reset_whose_decision_was_never_written() -> None:
    """A driver may die between the reset's grant and its decision: what is read again was meant."""
    third = Epoch(2, 1)
    scene = Scene()
    scene.write("a", start(FIRST, 0, 10), *done(0, 1, 2, t=15), stop(FIRST, 3, 20))
    scene.write("b", start(third, 0, 30), *done(0, 1, 2, t=35), stop(third, 3, 40))
    move = move_of(QUEUE, "granted", "a", FIRST, 0, "first_offset")
    decision = decision_of(FIRST, [move])
    tenures = read_tenures(scene.journals, ())

    def eras(starts: dict[tuple[MessageQueue, Epoch], tuple[int, int]]) -> list[tuple[int, int]]:
        found = Eras(History(decisions=(decision,), starts=starts), tenures)
        return [found.of(tenure) for tenure in tenures.by_queue[QUEUE]]

    assert eras({(QUEUE, FIRST): (0, 0), (QUEUE, third): (8, 0)}) == [(0, 0), (0, 8)]
    assert eras({(QUEUE, FIRST): (0, 0), (QUEUE, third): (0, 0)}) == [(0, 0), (0, 0)]
