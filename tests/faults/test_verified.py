"""All trials together, judged from the topics alone by every invariant; runs after the others."""

import random
from typing import TYPE_CHECKING

import pytest

from tests.faults import client_faults

if TYPE_CHECKING:
    from tests.faults.stage import Stage

pytestmark = [pytest.mark.system, pytest.mark.broker, pytest.mark.spark]


def test_the_records_break_no_invariant(stage: "Stage") -> None:
    """After all that was done to it, the records of the system break no invariant."""
    client_faults.told_to_go(stage, random.Random(1))
    judgement = stage.verify()
    findings = [
        f"{ruling.number}: {finding.text}"
        for ruling in judgement.rulings
        for finding in ruling.findings
    ]
    assert findings == []
    assert judgement.nothing == ""
