"""A reading that was granted, and that nobody began, is owed as one that somebody did."""

import pytest

from fairlead.core.model import Epoch, MessageQueue
from fairlead.verify.history import History
from fairlead.verify.reset_epochs import Eras
from fairlead.verify.tenures import read_tenures
from fairlead.wire.decision_records import DecisionRecord
from tests.kit.decisions import decision_of, move_of
from tests.kit.judged_scene import FIRST, QUEUE, SECOND, Scene, done, start, stop

RESET = 9
"""An operator's reset, as positions name it."""


def _decided(epoch: Epoch, offset: int, why: str, reset: int = 0) -> DecisionRecord:
    move = move_of(QUEUE, "granted", "a", epoch, offset, why, reset=reset)
    return decision_of(epoch, [move])


def _eras(
    *decisions: DecisionRecord,
    processed: int = 4,
    at: int = 0,
    lives: dict[Epoch, str] | None = None,
    starts: dict[tuple[MessageQueue, Epoch], tuple[int, int]] | None = None,
) -> Eras:
    """A processed so many messages under the first grant; the second one nobody began."""
    scene = Scene()
    read = range(at, at + processed)
    scene.write("a", start(FIRST, at, 10), *done(*read, t=15), stop(FIRST, read.stop, 20))
    history = History(
        decisions=decisions,
        identities={(QUEUE, epoch): life for epoch, life in (lives or {}).items()},
        starts=starts or {},
    )
    return Eras(history, read_tenures(scene.journals, ()))


def test_topic_made_anew() -> None:
    """What was read of a topic's former life is nothing of the new one's."""
    granted = _decided(FIRST, 0, "first_offset"), _decided(SECOND, 0, "minimum")
    eras = _eras(*granted, lives={FIRST: "old", SECOND: "new"})
    assert eras.unread(QUEUE, range(4)) == [0, 1, 2, 3]
    same = _eras(*granted, lives={FIRST: "old", SECOND: "old"})
    assert same.unread(QUEUE, range(4)) == []


@pytest.mark.parametrize(
    "offset, missed",
    [(6, [6, 7]), (8, []), (4, [4, 5, 6, 7]), (2, [2, 3, 4, 5, 6, 7])],
    ids=["forward", "to the end", "where it was", "back"],
)
def test_after_a_reset_all_is_owed_from_there(offset: int, missed: list[int]) -> None:
    """Behind a reset that was granted all is owed from there on, and nothing that it left out."""
    granted = _decided(FIRST, 0, "first_offset"), _decided(SECOND, offset, "reset", RESET)
    assert _eras(*granted).unread(QUEUE, range(8)) == missed


def test_reset_leaves_no_gap_behind() -> None:
    """What was skipped before a reset, below where the work had come, is found all the same."""
    scene = Scene()
    scene.write("a", start(FIRST, 0, 10), *done(0, 2, t=15), stop(FIRST, 3, 20))
    granted = _decided(FIRST, 0, "first_offset"), _decided(SECOND, 6, "reset", RESET)
    eras = Eras(History(decisions=granted), read_tenures(scene.journals, ()))
    assert eras.unread(QUEUE, range(8)) == [1, 6, 7]


@pytest.mark.parametrize("why", ["claims", "progress", "release"])
def test_first_start_whose_decision_was_never_written(why: str) -> None:
    """A driver may die before it wrote why a queue began where it did: nothing below is owed."""
    eras = _eras(_decided(SECOND, 6, why), at=5, starts={(QUEUE, FIRST): (0, 5)})
    assert eras.unread(QUEUE, range(9)) == []
    owed = _eras(_decided(FIRST, 5, "first_offset"), _decided(SECOND, 6, why), at=5)
    assert owed.unread(QUEUE, range(9)) == [0, 1, 2, 3, 4]


def test_reset_whose_first_decision_was_never_written() -> None:
    """A reset's reading begins with its first grant, also where only a later one was decided."""
    third = Epoch(1, 3)
    scene = Scene()
    scene.write("a", start(FIRST, 0, 10), *done(0, 1, 2, 3, t=15), stop(FIRST, 4, 20))
    scene.write("a", start(SECOND, 0, 30), *done(0, 2, t=35), stop(SECOND, 3, 40))
    scene.write("b", start(third, 3, 50), *done(3, t=55), stop(third, 4, 60))
    history = History(
        decisions=(_decided(FIRST, 0, "first_offset"), _decided(third, 3, "release", RESET)),
        starts={(QUEUE, SECOND): (RESET, 0), (QUEUE, third): (RESET, 3)},
    )
    eras = Eras(history, read_tenures(scene.journals, ()))
    assert eras.unread(QUEUE, range(4)) == [1]
