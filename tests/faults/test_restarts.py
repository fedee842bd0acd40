"""Forty clients restarted under load, on a whole system."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.faults.conftest import Stages
    from tests.faults.stage import Stage

pytestmark = [
    pytest.mark.system, pytest.mark.broker, pytest.mark.spark, pytest.mark.slow,
    pytest.mark.timeout(1_800),
]  # fmt: skip


@pytest.fixture(scope="module")
def forty(stages: "Stages", tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Stage]":
    """A system with forty clients in one group."""
    from tests.faults.restart_faults import CLIENTS, FORTY, QUEUES_EACH
    from tests.faults.stage import Stage

    # One system at a time.
    stages.close()
    folder = tmp_path_factory.mktemp("forty")
    with Stage(folder, FORTY, CLIENTS * QUEUES_EACH) as stage:
        yield stage


@pytest.mark.parametrize("together, grace", [(5, False), (1, False), (5, True)])
def test_a_rolling_restart_moves_no_other_queue(forty: "Stage", together: int, grace: bool) -> None:  # noqa: FBT001 - a parameter
    """No queue has two owners, no message is missed or read twice, and no other queue moves."""
    from tests.faults.restart_faults import CLIENTS, QUEUES_EACH, rolled

    started = rolled(forty, together, grace=grace)
    assert started >= CLIENTS * QUEUES_EACH


def test_the_records_break_no_invariant(forty: "Stage") -> None:
    """After all of it the records break no invariant."""
    judgement = forty.verify()
    found = [finding.text for ruling in judgement.rulings for finding in ruling.findings]
    assert found == []
    assert judgement.nothing == ""
