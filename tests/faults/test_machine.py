"""When the host took the machine away, by the kernel's counts."""

import time

import pytest

from tests.faults.machine import LOOK_SECONDS, Look, absences, watched

SECOND_NS = 1_000_000_000


def looks(*taken: int, ticks: int = 200) -> list[Look]:
    """A look a second, and what was taken in each second."""
    sums = [sum(taken[:number]) for number in range(len(taken) + 1)]
    return [Look(number * SECOND_NS, each, number * ticks) for number, each in enumerate(sums)]


@pytest.mark.parametrize(
    "taken, found",
    [
        ([0, 0, 0], []),
        ([80, 0, 80], []),
        ([0, 81, 0], [(1, 2)]),
        ([150, 190, 0, 100], [(0, 1), (1, 2), (3, 4)]),
    ],
)
def test_more_than_it_may(taken: list[int], found: list[tuple[int, int]]) -> None:
    """A second counts when the host took more than its share of it."""
    told = absences(looks(*taken))
    assert told == [(since * SECOND_NS, until * SECOND_NS) for since, until in found]


def test_a_late_look_counts_nothing() -> None:
    """Nothing was counted, for nothing ran: the look itself came too late."""
    first, second = looks(0)
    late = Look(second.t_ns + 2 * SECOND_NS, second.taken, second.whole + 1)
    assert absences([first, late]) == [(first.t_ns, late.t_ns)]


def test_the_kernel_counts_what_happened_since() -> None:
    """The kernel's counts are read, and what was before does not count."""
    with watched() as found:
        deadline = time.monotonic() + 10 * LOOK_SECONDS
        while len(found) < 3:
            assert time.monotonic() < deadline
            time.sleep(LOOK_SECONDS / 10)
    first, second, *_ = found
    assert second.whole > first.whole > first.taken >= 0
    assert absences(found, time.monotonic_ns()) == []
