"""What a healthy run may show acquits, and the same with the violation in it is found."""

from collections.abc import Iterable

import pytest

from fairlead.verify.history import (
    ClientFrozen,
    ClientKilled,
    Committed,
    Failed,
    Held,
    Journal,
    JournalRecord,
    Passed,
)
from tests.kit.judged_scene import FIRST, QUEUE, SECOND, THIRD, Scene, done, start, stop


def _lease_lost(*, reread_from: int = 3, lapsed: bool = True) -> Scene:
    """A processes 0 to 4 and loses its lease; the engine had read 3, so B begins there."""
    scene = Scene(progress=[("a", FIRST, 3)])
    scene.write("a", start(FIRST, 0, 10), *done(0, 1, 2, 3, 4, t=20), stop(FIRST, 5, 30))
    again = range(reread_from, 7)
    scene.write("b", start(SECOND, reread_from, 40), *done(*again, t=50), stop(SECOND, 7, 60))
    if lapsed:
        scene.lapsed.add((QUEUE, "a", FIRST))
    return scene


def test_work_after_a_lost_lease_is_done_again() -> None:
    """What the engine had not read of a client that lost its lease is processed again."""
    broken, _, counts = _lease_lost().judge()
    assert (broken, counts["duplicates_lease_lost"], counts["duplicates_killed"]) == ((), 2, 0)


def test_without_a_lapse_a_second_reading_is_a_repetition() -> None:
    """Without a lapse in the topics it is a message read twice on a clean move."""
    broken, told, _ = _lease_lost(lapsed=False).judge()
    assert broken == ("S5",)
    assert "read twice" in told


def test_lease_lost_and_more_read_again() -> None:
    """A lost lease excuses nothing that the engine had read."""
    broken, told, _ = _lease_lost(reread_from=2).judge()
    assert broken == ("S5",)
    assert "the engine had read 3" in told


def _frozen(*works: JournalRecord, logged: bool = True, lapsed: bool = True) -> Scene:
    """A stands still from 20 to 50, B works from 40 on, A stops at 55."""
    scene = Scene(progress=[("a", FIRST, 2)])
    scene.write("a", start(FIRST, 0, 10), *done(0, 1, t=15), *works, stop(FIRST, 2, 55), pid=7)
    scene.write("b", start(SECOND, 2, 40), *done(2, 3, t=45), stop(SECOND, 4, 60))
    if logged:
        scene.steps.append(ClientFrozen("a", 20, 50, 7))
    if lapsed:
        scene.lapsed.add((QUEUE, "a", FIRST))
    return scene


def test_a_frozen_process_worked_until_it_stood() -> None:
    """A process that stood still worked up to there."""
    assert _frozen().judge()[0] == ()


@pytest.mark.parametrize(
    "scene",
    [
        _frozen(logged=False),
        _frozen(lapsed=False),
        _frozen(*done(2, t=52)),
        _frozen(Held(QUEUE, 2, 52)),
        _frozen(Failed(QUEUE, 2, 52)),
    ],
    ids=["not logged", "not lapsed", "processed", "held", "failed"],
)
def test_two_owners_after_all(scene: Scene) -> None:
    """Not if nobody says so, if its lease goes on, or if it did one thing behind it."""
    broken, told, _ = scene.judge()
    assert "S1" in broken
    assert "had two owners for" in told


def test_a_standstill_of_another_process_excuses_nothing() -> None:
    """A standstill of another process of the same client id excuses nothing."""
    scene = _frozen(logged=False)
    scene.steps.append(ClientFrozen("a", 20, 50, 8))
    assert "S1" in scene.judge()[0]


def _restarted(*, pids: bool = True, dead: int = 20, log: bool = True) -> Scene:
    """A is killed at 20, comes back at 40 under its id, and stops at 60."""
    scene = Scene(progress=[("a", FIRST, 2)])
    scene.write("a", start(FIRST, 0, 10), *done(0, 1, t=15), pid=7 if pids else None)
    life: list[JournalRecord] = [start(SECOND, 2, 40), *done(2, 3, t=45), stop(SECOND, 4, 60)]
    scene.write("a", *life, pid=8 if pids else None)
    if log:
        scene.steps.append(ClientKilled("a", dead - 1, dead, 7 if pids else None))
    return scene


@pytest.mark.parametrize("pids", [True, False])
def test_who_comes_back_under_a_dead_id_lives(pids: bool) -> None:  # noqa: FBT001 - a parameter
    """A death is of one process: who comes back under its id lives."""
    assert _restarted(pids=pids).judge()[0] == ()


def test_restarted_and_killed_again() -> None:
    """Each death is of the process that had begun last by then, one after the other."""
    scene = _restarted(pids=False)
    scene.journals[1] = Journal("a", scene.journals[1].records[:-1], (), None, 39)
    scene.steps.append(ClientKilled("a", 61, 62))
    assert scene.judge()[0] == ()


@pytest.mark.parametrize(
    "scene", [_restarted(log=False), _restarted(dead=42)], ids=["no death", "died too late"]
)
def test_two_processes_of_one_id_are_two_owners(scene: Scene) -> None:
    """Two processes of one client id that work at once are two owners."""
    broken, told, _ = scene.judge()
    assert "S1" in broken
    assert "had two owners" in told


def test_works_after_its_death() -> None:
    """A process that writes after its own death is no other one."""
    scene = Scene(steps=[ClientKilled("a", 29, 30, 7)])
    scene.write("a", start(FIRST, 0, 10), *done(0, t=40), pid=7)
    broken, told, _ = scene.judge()
    assert "S1" in broken
    assert "a record after the client's death" in told


def test_dead_before_its_first_line() -> None:
    """Who died without a line and without work in the topics is not judged, and named."""
    scene = _restarted()
    scene.steps.append(ClientKilled("ghost", 50, 51, 9))
    broken, told, _ = scene.judge()
    assert broken == ()
    assert "ghost was killed before its first line and is not judged" in told


def test_a_worker_without_a_line_has_lost_its_journal() -> None:
    """Who died without a line, and worked by the topics, has lost its journal."""
    scene = _restarted()
    scene.steps.append(ClientKilled("ghost", 50, 51, 9))
    scene.progress.append(("ghost", THIRD, 4))
    broken, told, _ = scene.judge()
    assert broken == ("S1",)
    assert "ghost was killed, and no journal has its work on" in told


def _moved(*before: JournalRecord, at: int, again: Iterable[int]) -> Scene:
    """A writes these lines and releases at ``at``; B processes ``again`` and the rest up to 9."""
    scene = Scene(progress=[("a", FIRST, at)], source=range(10))
    scene.write("a", start(FIRST, 0, 10), *before, stop(FIRST, at, 30))
    rest = range(max([at, *again, -1]) + 1 if again else at, 10)
    scene.write("b", start(SECOND, at, 40), *done(*again, *rest, t=50), stop(SECOND, 10, 60))
    return scene


HEALTHY = {
    "a listener failed": _moved(
        *done(0, 1, t=12), Failed(QUEUE, 2, 13), *done(3, 4, t=14), at=2, again=range(2, 5)
    ),
    "nothing is written of the failure": _moved(
        *done(0, 1, 3, 4, t=12), at=2, again=range(2, 5)
    ),
    "failed, then processed": _moved(
        Failed(QUEUE, 0, 12), *done(1, t=13), *done(0, t=14), at=2, again=()
    ),
    "failed after it was processed, with its batch": _moved(
        *done(0, 1, t=12), Failed(QUEUE, 0, 13), Failed(QUEUE, 1, 13), at=0, again=range(2)
    ),
    "sent back": _moved(
        *done(0, t=12), Failed(QUEUE, 1, 13), Passed(QUEUE, 1, 1, "sent_back", 14), at=2, again=()
    ),
    "filtered": _moved(*done(0, t=12), Passed(QUEUE, 1, 4, "filtered", 13), at=5, again=()),
    "a batch not committed": _moved(
        Held(QUEUE, 0, 11, 4), *done(0, 1, t=12), at=0, again=range(2)
    ),
    "the second batch not committed": _moved(
        Held(QUEUE, 0, 11, 2), *done(0, 1, t=12), Committed(QUEUE, 2, 13),
        Held(QUEUE, 2, 14, 3), *done(2, 3, t=15), at=2, again=range(2, 4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HEALTHY)
def test_a_release_may_lie_below_what_was_processed(name: str) -> None:
    """A queue is released below what was processed if a message before was not finished."""
    broken, told, counts = HEALTHY[name].judge()
    assert broken == (), told
    assert (counts["duplicates_clean"], counts["holes"]) == (0, 0)


TWINS = {
    "released below what was processed": (
        _moved(*done(0, 1, 2, 3, t=12), at=2, again=range(2, 4)),
        ("S1", "S5"),
        "was released at 2, but worked on up to 4",
    ),
    "released below a message that had failed": (
        _moved(*done(0, 1, t=12), Failed(QUEUE, 2, 13), *done(3, t=14), at=1, again=range(1, 4)),
        ("S1", "S5"),
        "was released at 1",
    ),
    "released behind what failed": (
        _moved(*done(0, t=12), Failed(QUEUE, 1, 13), *done(2, t=14), at=3, again=()),
        ("S1", "S5"),
        "was released at 3, behind 1, which failed",
    ),
    "the message that failed is skipped": (
        _moved(*done(0, 2, t=14), at=3, again=()),
        ("S5",),
        "nobody processed 1 messages",
    ),
    "released behind what was processed": (
        _moved(*done(0, t=12), at=2, again=()),
        ("S1", "S5"),
        "was released at 2, but worked on up to 1 (a filtered or returned message",
    ),
    "a committed batch is released below": (
        _moved(Held(QUEUE, 0, 11, 2), *done(0, 1, t=12), Committed(QUEUE, 2, 13),
               at=0, again=range(2)),
        ("S1", "S5"),
        "was released at 0, but worked on up to 2",
    ),
    "released in the middle of a batch": (
        _moved(Held(QUEUE, 0, 11, 4), *done(0, 1, 2, t=12), at=1, again=range(1, 3)),
        ("S1", "S5"),
        "was released at 1, but worked on up to 3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TWINS)
def test_an_unexplained_release_is_found(name: str) -> None:
    """A release that no unfinished message explains is found, and so is what comes of it."""
    scene, numbers, words = TWINS[name]
    broken, told, _ = scene.judge()
    assert broken == numbers, told
    assert words in told


def test_released_below_its_start() -> None:
    """Nobody hands back less than it was given."""
    scene = Scene().write("a", start(FIRST, 5, 10), *done(5, 6, t=12), stop(FIRST, 4, 30))
    broken, told, _ = scene.judge()
    assert broken == ("S1",)
    assert "was released at 4, but worked on up to 7" in told


def test_skipped_behind_a_failure() -> None:
    """Without the source, too: who begins behind a message that failed leaves it out."""
    scene = Scene(steps=[ClientKilled("a", 29, 30)], progress=[("a", FIRST, 2)])
    scene.write("a", start(FIRST, 0, 10), *done(0, 1, t=12), Failed(QUEUE, 2, 13), *done(3, t=14))
    scene.write("b", start(SECOND, 4, 40), stop(SECOND, 4, 60))
    broken, told, _ = scene.judge()
    assert "S5" in broken
    assert "messages from 2 on were skipped" in told


def test_read_twice_by_one() -> None:
    """One tenure that processes a message twice, and does not say that it failed, is found."""
    scene = Scene().write("a", start(FIRST, 0, 10), *done(0, 0, t=12), stop(FIRST, 1, 30))
    assert scene.judge()[0] == ("S5",)
    again: list[JournalRecord] = [*done(0, t=12), Failed(QUEUE, 0, 13), *done(0, t=14)]
    assert Scene().write("a", start(FIRST, 0, 10), *again, stop(FIRST, 1, 30)).judge()[0] == ()
