"""Faults of clients and of records, on a whole system: every part is real, and every signal."""

import random
from typing import TYPE_CHECKING

import pytest

from tests.faults import client_faults, log_faults
from tests.faults.turns import turns

if TYPE_CHECKING:
    from tests.faults.stage import Fault, Stage

pytestmark = [pytest.mark.system, pytest.mark.broker, pytest.mark.spark]


@pytest.mark.parametrize("turn", turns())
@pytest.mark.parametrize(
    "fault",
    [
        client_faults.killed,
        # The judged trial of all has one too.
        pytest.param(client_faults.told_to_go, marks=pytest.mark.slow),
        pytest.param(client_faults.restarted_in_grace, marks=pytest.mark.slow),
        pytest.param(client_faults.frozen, marks=pytest.mark.slow),
        client_faults.cloned,
        # Drains and refusals are also told as stories, and wrong partitions are in every fuzz.
        pytest.param(log_faults.refused_heartbeats, marks=pytest.mark.slow),
        pytest.param(client_faults.drained_in_vain, marks=pytest.mark.slow),
        pytest.param(client_faults.drain_deadline_passed, marks=pytest.mark.slow),
        pytest.param(log_faults.wrong_partition, marks=pytest.mark.slow),
    ],
    ids=lambda fault: fault.__name__,
)
def test_a_fault_of_a_client_costs_its_own_queues_only(
    stage: "Stage", fault: "Fault", turn: int
) -> None:
    """What is done to a client costs its own queues only, and nobody a message."""
    fault(stage, random.Random(turn))
