"""Delay levels, and the queue that each has."""

import pytest
from fairlead_client.consume.retry.delay_level import (
    DELAYS_MS,
    LEVELS,
    delay_ms,
    level_of,
    queue_of_level,
)
from hypothesis import given
from hypothesis import strategies as st

ROCKETMQ = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000}


def test_the_delays_are_those_of_rocketmq() -> None:
    """The delays are those of RocketMQ's setting messageDelayLevel."""
    assert [int(text[:-1]) * UNITS_MS[text[-1]] for text in ROCKETMQ.split()] == [*DELAYS_MS]
    assert (delay_ms(1), delay_ms(18)) == (1_000, 7_200_000)


@pytest.mark.parametrize(
    "times, named, level", [(0, 0, 3), (1, 0, 4), (15, 0, 18), (16, 0, 18), (5, 1, 1), (0, 99, 18)]
)
def test_the_level_is_3_at_first_and_one_more_each_time(times: int, named: int, level: int) -> None:
    """Without a level of the application's own it is 3 at first, and one more each time."""
    assert level_of(times, named) == level


@given(st.integers(1, 100), st.integers(0, 10**9))
def test_longer_delays_have_later_queues(queues: int, spread: int) -> None:
    """Longer delays never have an earlier queue; from 18 queues on no two levels share one."""
    chosen = [queue_of_level(level, queues, spread) for level in range(1, LEVELS + 1)]
    assert chosen == sorted(chosen)
    assert all(0 <= queue < queues for queue in chosen)
    if queues >= LEVELS:
        others = [queue_of_level(level, queues, spread + 1) for level in range(1, LEVELS + 1)]
        assert len(set(chosen)) == LEVELS
        assert not set(chosen[:-1]) & set(others[1:]) - {
            queue for queue, other in zip(chosen, others, strict=True) if queue == other
        }


@given(st.integers(1, 5))
def test_all_queues_are_used(of_each: int) -> None:
    """Of a topic with so many queues for each level every queue is used."""
    used = {
        queue_of_level(level, of_each * LEVELS, spread)
        for level in range(1, LEVELS + 1)
        for spread in range(of_each)
    }
    assert used == set(range(of_each * LEVELS))
