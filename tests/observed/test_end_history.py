"""When a queue's end was where: as exact as its samples, and bounded."""

from hypothesis import given
from hypothesis import strategies as st

from fairlead.observed.end_history import EndHistory, Reached


def _history(*samples: tuple[int, int]) -> EndHistory:
    made = EndHistory()
    for at_ms, end in samples:
        made.add(at_ms, end)
    return made


def test_between_two_samples_the_end_grows_evenly() -> None:
    """Between two samples the end has grown evenly."""
    history = _history((1_000, 100), (3_000, 300))
    assert history.reached(200) == Reached(2_000, 2_000)
    assert history.reached(100) == Reached(1_000, 2_000)


def test_outside_of_the_samples() -> None:
    """What the end has not reached has no date; what it had passed before has a bound."""
    history = _history((1_000, 100), (3_000, 300))
    assert history.reached(300) is None
    assert history.reached(99) == Reached(1_000, 0, earlier=True)
    assert EndHistory().reached(0) is None


def test_an_end_that_stood_still() -> None:
    """An end that stood still begins to grow when it was seen last, not when it was seen first."""
    history = _history((1_000, 100), (2_000, 100), (60_000, 100), (61_000, 200))
    assert history.reached(100) == Reached(60_000, 1_000)
    told = _history((1_000, 100))
    told.add(61_000, 200, still_ms=60_000)
    assert told.reached(150) == Reached(60_500, 1_000)


def test_an_end_below_the_last_forgets_the_history() -> None:
    """An end below the one before is of a new life: what was before is forgotten."""
    history = _history((1_000, 100), (2_000, 200), (3_000, 10), (4_000, 20))
    assert history.reached(15) == Reached(3_500, 1_000)
    assert history.newest == (4_000, 20)


@given(st.lists(st.tuples(st.integers(1, 5_000), st.integers(0, 50)), min_size=1, max_size=400))
def test_few_samples_date_an_end_within_two_of_them(steps: list[tuple[int, int]]) -> None:
    """The history keeps few of many samples, and dates an end within its two samples."""
    at_ms = end = 0
    truth = []
    history = EndHistory()
    for step_ms, more in steps:
        at_ms, end = at_ms + step_ms, end + more
        truth.append((at_ms, end))
        history.add(at_ms, end)
    assert len(history) <= 24
    assert history.newest == truth[-1]
    for offset in {each for _, each in truth if each < end}:
        last_ms = max(ms for ms, reached in truth if reached <= offset)
        dated = history.reached(offset)
        assert dated is not None
        assert abs(dated.at_ms - last_ms) <= dated.within_ms or dated.earlier
