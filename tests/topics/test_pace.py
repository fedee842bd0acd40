"""How long a reader or writer of topics waits for more records before its next request."""

from hypothesis import given
from hypothesis import strategies as st

from fairlead.kafka.pace import Pace

LEAST_S, MOST_S = 0.001, 0.02


@given(st.lists(st.tuples(st.integers(1, 5_000), st.floats(0, 5)), min_size=1, max_size=50))
def test_the_wait_stays_within_its_bounds(looks: list[tuple[int, float]]) -> None:
    """However many records come, and whatever the clock says, nobody waits longer than allowed."""
    pace, now_s = Pace(LEAST_S, MOST_S), 0.0
    for records, passed_s in looks:
        now_s += passed_s
        assert LEAST_S <= pace.wait_s(records, now_s) <= MOST_S


def test_a_lone_record_waits_for_nobody() -> None:
    """One record now and then: the next request goes almost at once."""
    pace = Pace(LEAST_S, MOST_S)
    waits = [pace.wait_s(1, now_s) for now_s in range(10)]
    assert max(waits) < 2 * LEAST_S


def test_a_flood_is_gathered_and_forgotten() -> None:
    """Thousands a second share few requests; a second after the flood nobody waits for it."""
    pace = Pace(LEAST_S, MOST_S)
    waits = [pace.wait_s(50, number / 100) for number in range(300)]
    assert waits[-1] == MOST_S
    assert pace.wait_s(1, 5.0) < 2 * LEAST_S
