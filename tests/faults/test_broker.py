"""Faults of the broker, on a whole system."""

import random
from typing import TYPE_CHECKING

import pytest

from tests.faults import broker_faults
from tests.faults.turns import turns

if TYPE_CHECKING:
    from tests.faults.stage import Fault, Stage

pytestmark = [pytest.mark.system, pytest.mark.broker, pytest.mark.spark]


@pytest.mark.parametrize("turn", turns())
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(broker_faults.restarted, marks=pytest.mark.slow),
        pytest.param(broker_faults.stood_still_briefly, marks=pytest.mark.slow),
        pytest.param(broker_faults.stood_still, marks=pytest.mark.slow),
    ],
    ids=lambda fault: fault.__name__,
)
def test_an_outage_ends_only_shorter_leases(stage: "Stage", fault: "Fault", turn: int) -> None:
    """An outage ends the leases that are shorter, and touches nobody whose lease is longer."""
    fault(stage, random.Random(turn))
