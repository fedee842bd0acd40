"""Lives by seed in which most clients come through gateways: every promise is kept."""

import pytest
from fairlead_proof.sim.schedule import Outcome, run_schedule

FEW = 15


def breaches(first: int, schedules: int) -> list[Outcome]:
    """Return what was broken in so many schedules."""
    outcomes = (run_schedule(first + number, thin=True) for number in range(schedules))
    return [each for each in outcomes if each.breach is not None]


def test_gateways_break_no_promise() -> None:
    """Gateways die, stand still and lag; requests get lost, come twice, and go anywhere."""
    assert [(each.seed, each.breach) for each in breaches(1, FEW)] == []


@pytest.mark.slow
@pytest.mark.timeout(4_000)
@pytest.mark.parametrize("seed", range(500_000, 505_000, 1_000))
def test_gateways_break_no_promise_in_five_thousand_schedules(seed: int) -> None:
    """Nor in any of five thousand."""
    assert [(each.seed, each.breach) for each in breaches(seed, 1_000)] == []
