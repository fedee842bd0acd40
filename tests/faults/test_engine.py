"""Faults of the engine, on a whole system."""

import random
from typing import TYPE_CHECKING

import pytest

from tests.faults import engine_faults
from tests.faults.turns import ENGINE_KILLS, turns

if TYPE_CHECKING:
    from tests.faults.stage import Fault, Stage

pytestmark = [pytest.mark.system, pytest.mark.broker, pytest.mark.spark]


@pytest.mark.parametrize("turn", turns(ENGINE_KILLS))
@pytest.mark.parametrize(
    "what",
    [
        # The demo kills an engine too, and tests of the streaming job kill the JVM.
        pytest.param("driver", marks=pytest.mark.slow),
        pytest.param("jvm", marks=pytest.mark.slow),
        pytest.param("all", marks=pytest.mark.slow),
    ],
)
def test_a_killed_engine_goes_on_where_it_was(stage: "Stage", what: str, turn: int) -> None:
    """An engine killed at any moment is taken up where it was, and takes nobody for dead."""
    engine_faults.killed(stage, random.Random(turn), what)


@pytest.mark.slow
def test_down_for_a_minute(stage: "Stage") -> None:
    """An engine that is down for twenty leases takes nobody for dead."""
    engine_faults.killed(stage, random.Random(1), "all", down_seconds=60)


@pytest.mark.parametrize("turn", turns())
@pytest.mark.parametrize(
    "fault",
    [
        # Engines started more than once; tests of the streaming job have the like of it.
        pytest.param(engine_faults.second_on_its_checkpoint, marks=pytest.mark.slow),
        pytest.param(engine_faults.joined_without_one, marks=pytest.mark.slow),
        pytest.param(engine_faults.stood_still, marks=pytest.mark.slow),
        pytest.param(engine_faults.second_on_a_copy, marks=pytest.mark.slow),
        pytest.param(engine_faults.old_checkpoint, marks=pytest.mark.slow),
        pytest.param(engine_faults.lost_checkpoint, marks=pytest.mark.slow),
    ],
    ids=lambda fault: fault.__name__,
)
def test_faults_of_the_engine_cost_no_owner_and_no_message(
    stage: "Stage", fault: "Fault", turn: int
) -> None:
    """Whatever is done to the engine, every queue has one owner and nobody loses a message."""
    fault(stage, random.Random(turn))
