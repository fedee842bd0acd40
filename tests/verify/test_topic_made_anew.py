"""A recreated topic has other messages under the same offsets."""

import pytest

from fairlead.verify.history import ClientKilled, History, Journal
from fairlead.verify.reset_epochs import Eras
from fairlead.verify.tenures import read_tenures
from tests.kit.decisions import decision_of, move_of
from tests.kit.judged_scene import (
    FIRST,
    LIVES,
    QUEUE,
    SECOND,
    THIRD,
    Scene,
    done,
    recreated,
    start,
    stop,
)


def test_a_recreated_topic_misses_nothing() -> None:
    """Each message is read once in its life; what the source lost with the topic is not missed."""
    broken, told, counts = recreated().judge()
    assert broken == (), told
    assert (counts["duplicates_clean"], counts["holes"]) == (0, 0)


@pytest.mark.parametrize(
    "scene, words",
    [
        (recreated(again=range(1, 4)), "read twice"),
        (recreated(again=range(3, 4)), "1 messages from 2 on were skipped"),
        (recreated(again=range(2, 3), last=3), "nobody processed 1 messages, the first is"),
        (recreated(again=range(2, 5), last=5), "but not in the source"),
        (recreated(lives=False), "read twice"),
    ],
    ids=["read twice", "skipped", "never read", "not there", "the same life"],
)
def test_violations_within_one_identity_are_found(scene: Scene, words: str) -> None:
    """What goes wrong within a life is found as ever."""
    broken, told, _ = scene.judge()
    assert broken == ("S5",), told
    assert words in told


def test_a_life_that_comes_back() -> None:
    """No topic is the one before again: what hides behind such a word is found all the same."""
    scene = recreated()
    scene.lives = {FIRST: "old", SECOND: "new", THIRD: "old"}
    broken, told, _ = scene.judge()
    assert broken == ("S5",), told
    assert "read twice" in told


def test_a_grant_that_does_not_tell_its_life() -> None:
    """It goes on in the life of the grant before it."""
    scene = recreated()
    scene.lives = {FIRST: "old", SECOND: "new"}
    broken, told, _ = scene.judge()
    assert broken == (), told


def test_a_reset_in_a_life_that_is_not_told() -> None:
    """A grant that follows a reset, and does not tell its life, begins an era all the same."""
    scene = recreated()
    moves = [
        move_of(QUEUE, "granted", client, epoch, 0, "release", reset=reset)
        for client, epoch, reset in (("a", FIRST, 0), ("a", SECOND, 0), ("b", THIRD, 7))
    ]
    decisions = tuple(decision_of(move.epoch, [move]) for move in moves)
    lives = {(QUEUE, FIRST): "old", (QUEUE, SECOND): "new"}
    tenures = read_tenures(scene.journals, ())
    eras = Eras(History(decisions=decisions, identities=lives), tenures)
    assert [eras.of(tenure) for tenure in tenures.by_queue[QUEUE]] == [(0, 0), (1, 0), (1, 7)]


def test_a_hole_in_the_old_life() -> None:
    """A start behind what was read is a hole in whichever life."""
    scene = Scene(lives=LIVES)
    scene.write("a", start(FIRST, 0, 10), *done(0, t=15), stop(FIRST, 1, 20))
    epoch = FIRST._replace(number=0)
    scene.lives = {epoch: "old"} | LIVES
    scene.write("c", start(epoch, 3, 5), stop(epoch, 3, 6))
    scene.write("b", start(SECOND, 0, 50), stop(SECOND, 0, 60))
    broken, told, _ = scene.judge()
    assert "S5" not in broken, told
    scene.write("b", start(THIRD, 4, 70), stop(THIRD, 4, 80))
    broken, told, _ = scene.judge()
    assert "4 messages from 0 on were skipped" in told


def test_a_line_behind_a_death_is_named() -> None:
    """The judge shows the line as people write queues, and asks whether it is the right process."""
    scene = Scene(steps=[ClientKilled("a", 29, 30, 7)])
    scene.write("a", start(FIRST, 0, 10), *done(3, t=40), pid=7)
    _, told, _ = scene.judge()
    assert "death: consumed orders/main/0@3 at 40 ns" in told
    assert "Queue(" not in told


def test_a_file_that_does_not_say_whose_it_is() -> None:
    """A client to which nothing was granted is named, with what its file may lack."""
    scene = recreated()
    scene.journals.append(Journal("a-1", scene.journals[0].records))
    broken, told, _ = scene.judge()
    assert "S1" in broken
    assert "no grant names a client 'a-1'; without a line of kind opened" in told


def test_whose_death_it_may_be() -> None:
    """The judge says what does not fit a death without a journal: the id, or the process."""
    scene = recreated()
    scene.journals[0] = Journal("a", scene.journals[0].records, (), 7, 9)
    scene.steps += [ClientKilled("nobody", 70, 71), ClientKilled("a", 5, 6, 8)]
    broken, told, _ = scene.judge()
    assert broken == (), told
    assert "nobody was killed before its first line and is not judged (no grant" in told
    assert "a was killed before its first line and is not judged (pid 8; its" in told


def test_a_last_line_that_is_cut_off() -> None:
    """The judge says that a living client's last line is cut off, and what that leaves open."""
    scene = recreated()
    records = scene.journals[1].records[:-1]
    scene.journals[1] = Journal("b", records, (), None, 49, cut_off=True)
    broken, told, _ = scene.judge()
    assert broken == ("S1",)
    assert "neither a stop nor a death on record (the last line of its journal is cut off)" in told
