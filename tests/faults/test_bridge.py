"""Faults of the bridge, on a whole system."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.faults import bridge_faults

if TYPE_CHECKING:
    from tests.faults.conftest import Stages
    from tests.faults.stage import Stage

pytestmark = [pytest.mark.system, pytest.mark.broker, pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def stage(stages: "Stages", tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Stage]":
    """A system of this test's own: its topic grows."""
    from tests.faults.stage import Stage

    # One system at a time.
    stages.close()
    with Stage(tmp_path_factory.mktemp("grown")) as stage:
        yield stage


def test_topic_grows_while_the_bridge_is_dead(stage: "Stage") -> None:
    """Commands tell it; the next bridge has the queues shared once, and nothing in them is lost."""
    bridge_faults.grown_meanwhile(stage)
    judgement = stage.verify()
    found = [finding.text for ruling in judgement.rulings for finding in ruling.findings]
    assert found == []
    assert any(ruling.outcome == "held" for ruling in judgement.rulings)
