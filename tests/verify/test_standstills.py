"""A standstill excuses what it explains: the process that stood, for as long as it did."""

import pytest

from fairlead.verify.history import ClientFrozen, ClientKilled, JournalRecord, Start, Stop
from tests.kit.judged_scene import FIRST, QUEUE, SECOND, Scene, done, start, stop
from tests.kit.recorded_history import queue

OTHER = queue(1)


def _stood(
    *freezes: tuple[int, int], meanwhile: int | None = None, stops: int = 55, begins: int = 40
) -> Scene:
    """A stands still and stops, and its lease is lost; B works from 40 on, or when it is said.

    ``meanwhile``: when A writes a line of another queue.
    """
    scene = Scene(progress=[("a", FIRST, 2)])
    lines: list[JournalRecord] = [start(FIRST, 0, 10), *done(0, 1, t=15)]
    if meanwhile is not None:
        lines += [Start(OTHER, FIRST, 0, meanwhile), Stop(OTHER, FIRST, 0, meanwhile)]
    scene.write("a", *lines, stop(FIRST, 2, stops), pid=7)
    scene.write("b", start(SECOND, 2, begins), *done(2, 3, t=56), stop(SECOND, 4, 60))
    scene.steps += [ClientFrozen("a", begin, end, 7) for begin, end in freezes]
    scene.lapsed.add((QUEUE, "a", FIRST))
    return scene


HEALTHY = {
    "it stops as it is let go on": _stood((20, 50)),
    "its successor begins while it wakes": _stood((20, 50), begins=52),
    "it stands again before it can stop": _stood((20, 30), (31, 50), stops=51),
    "it stood before, for a moment": _stood((17, 18), (20, 50)),
    "it wrote before it stood": _stood((20, 50), meanwhile=19),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_standstill_until_the_lease_is_no_second_owner(name: str) -> None:
    """A process that stood until its lease was over, and then stopped, is no second owner."""
    broken, told, _ = HEALTHY[name].judge()
    assert "had two owners" not in told
    assert set(broken) <= {"S2"}, told


def test_killed_as_it_wakes() -> None:
    """Nor is one that dies before it can write that it stops."""
    scene = _stood((20, 50))
    lines = scene.journals[0].records[:-1]
    scene.journals.pop(0)
    scene.write("a", *lines, pid=7)
    scene.steps.append(ClientKilled("a", 52, 53, 7))
    broken, told, _ = scene.judge()
    assert broken == (), told


TWINS = {
    "it stood for a moment, and was awake when its successor began": _stood((20, 21)),
    "awake between two standstills": _stood((17, 18), (44, 52)),
    "it wrote meanwhile": _stood((20, 50), meanwhile=30),
}


@pytest.mark.parametrize("name", TWINS)
def test_an_unrelated_standstill_excuses_nothing(name: str) -> None:
    """A standstill that cannot be why the lease was lost excuses nothing."""
    broken, told, _ = TWINS[name].judge()
    assert "S1" in broken
    assert "had two owners for" in told
