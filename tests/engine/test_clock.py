"""The clock is the log: it follows append times, never back, never far at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.engine.clock import ShardClock
from tests.kit.world import World

LIMIT_MS = 2_000


def _read(*append_times: int) -> list[int]:
    clock = ShardClock(LIMIT_MS)
    return [clock.advance(append_ms) for append_ms in append_times]


@pytest.mark.parametrize(
    "append_times, clocks",
    [
        ([5_000], [0]),
        ([5_000, 5_400, 6_000], [0, 400, 1_000]),
        ([5_000, 7_000, 9_001], [0, 2_000, 4_000]),
        ([5_000, 600_000, 600_100], [0, 2_000, 2_100]),
        ([5_000, 4_000, 4_500], [0, 0, 500]),
        ([5_000, 0, 5_000], [0, 0, 2_000]),
    ],
)
def test_the_clock_is_a_sum_of_limited_steps(append_times: list[int], clocks: list[int]) -> None:
    """The clock is the sum of the steps between records, each at least 0 and at most the limit."""
    assert _read(*append_times) == clocks


@given(st.lists(st.integers(0, 10**6), min_size=1), st.data())
def test_cuts_do_not_matter(append_times: list[int], data: st.DataObject) -> None:
    """Wherever batches end, the clock at a record is the same."""
    at = data.draw(st.integers(0, len(append_times)))
    first = ShardClock(LIMIT_MS)
    clocks = [first.advance(append_ms) for append_ms in append_times[:at]]
    second = ShardClock(LIMIT_MS, first.clock_ms, first.append_ms)
    clocks += [second.advance(append_ms) for append_ms in append_times[at:]]
    assert clocks == _read(*append_times)


def _ticked(*records: tuple[int, int | None]) -> ShardClock:
    clock = ShardClock(LIMIT_MS)
    for append_ms, generation in records:
        clock.advance(append_ms)
        if generation is not None:
            clock.tick(generation)
    return clock


def test_a_jump_between_ticks_of_one_driver() -> None:
    """A gap between two ticks of one driver is a jump of a broker's clock."""
    assert _ticked((0, 1), (1_000, 1), (9_000, 1)).jumps == 1
    assert _ticked((0, 1), (5_000, None), (6_000, 1), (20_000, 1)).jumps == 2


def test_no_jump_while_no_driver_runs() -> None:
    """The time between the last tick of one driver and the first of the next is no jump."""
    clock = _ticked((0, 1), (60_000, None), (90_000, 2), (91_000, 2))
    assert (clock.jumps, clock.jumps_open, clock.marker) == (0, 0, 2)


def test_a_tick_of_an_old_driver() -> None:
    """A late tick of a driver before neither lowers the marker nor settles a gap."""
    clock = _ticked((0, 2), (60_000, 1))
    assert (clock.jumps, clock.jumps_open, clock.marker) == (0, 1, 2)


def test_the_alarm_is_told_once() -> None:
    """The decisions of the next batch that has any carry the alarm, and no later ones."""
    world = World()
    world.topics.tick(1)
    world.join("a")
    world.pass_seconds(4)
    world.topics.now_ms += 60_000
    world.pass_seconds(1)
    assert world.counts["clock_jumps"] == 2
    world.join("b")
    world.pass_seconds(4)
    world.join("c")
    world.pass_seconds(4)
    told = [entry["alarms"] for entry in world.decisions if "client_joined" in entry["triggers"]]
    assert told == [[], ["clock_jump"], []]
    assert world.counts["alarms/clock_jump"] == 1
