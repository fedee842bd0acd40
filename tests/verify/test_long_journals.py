"""A long journal is judged in the time that its lines take, however they are mixed."""

import time

from fairlead.verify.history import Consumed, Failed, History, JournalRecord, Passed
from fairlead.verify.reset_epochs import Eras
from fairlead.verify.tenures import read_tenures
from tests.kit.judged_scene import FIRST, QUEUE, Scene, start, stop

MANY = 40_000
SECONDS_MAX = 5.0
"""A hundredth of what each line against each other one takes."""


def _judged(*lines: JournalRecord, count: int) -> tuple[float, tuple[str, ...], str, list[int]]:
    scene = Scene().write("a", start(FIRST, 0, 1), *lines, stop(FIRST, count, 3))
    begun = time.process_time()
    tenures = read_tenures(scene.journals, ())
    missed = Eras(History(), tenures).unread(QUEUE, range(count + 1))
    took = time.process_time() - begun
    broken, told, _ = scene.judge()
    return took, broken, told, missed


def test_filtered_one_by_one() -> None:
    """Who filters most messages has a line for each of them."""
    lines = [Passed(QUEUE, offset, 1, "filtered", 2) for offset in range(MANY)]
    took, broken, told, missed = _judged(*lines, count=MANY)
    assert (broken, missed) == ((), [MANY]), told
    assert took < SECONDS_MAX


def test_many_failures_among_messages_are_no_fault() -> None:
    """Who fails each second message, and processes it then, has more lines than messages."""
    lines: list[JournalRecord] = []
    for offset in range(MANY):
        lines += [Failed(QUEUE, offset, 2)] if offset % 2 else []
        lines.append(Consumed(QUEUE, offset, offset, 2))
    took, broken, told, missed = _judged(*lines, count=MANY)
    assert (broken, missed) == ((), [MANY]), told
    assert took < SECONDS_MAX


def test_a_skipped_span_is_not_missed() -> None:
    """What lies in a span that was passed over is not missed, wherever others begin and end."""
    lines = [Passed(QUEUE, begin, count, "filtered", 2) for begin, count in SPANS]
    scene = Scene().write("a", start(FIRST, 0, 1), *lines, stop(FIRST, 12, 3))
    eras = Eras(History(), read_tenures(scene.journals, ()))
    passed = {each for begin, count in SPANS for each in range(begin, begin + count)}
    assert eras.unread(QUEUE, range(14)) == [each for each in range(14) if each not in passed]


SPANS = [(9, 3), (1, 6), (2, 2), (7, 1), (2, 2)]
