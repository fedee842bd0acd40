"""The foreign harness on a system of its own: whatever it does to its clients, no accusation."""

from pathlib import Path

import pytest

from tests.verify.healthy import Runs

pytestmark = [pytest.mark.system, pytest.mark.broker, pytest.mark.spark, pytest.mark.slow]


def test_real_runs_are_judged_as_when_recorded(tmp_path: Path) -> None:
    """What real processes do today is judged as what they did when the runs were recorded."""
    from tests.verify.foreign.harness import SCENARIOS, run

    assert run(tmp_path, list(SCENARIOS)) == []
    runs = Runs(tmp_path)
    judged = {group: runs.case(group).judge() for group in SCENARIOS}
    idle = [name for name, each in judged.items() if each.counts["messages_processed"] < 10]
    assert idle == []
    assert {group: each.told for group, each in judged.items() if each.broken} == {}
