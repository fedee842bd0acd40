"""All trials together, judged from the topics alone by every invariant; runs after the others."""

import random
from typing import TYPE_CHECKING

import pytest

from tests.faults import client_faults

if TYPE_CHECKING:
    from tests.faults.stage import Stage

pytestmark = [pytest.mark.broker, pytest.mark.spark]


def test_verified(stage: "Stage") -> None:
    """After all that was done to it, the records of the system break no invariant of safety."""
    client_faults.told_to_go(stage, random.Random(1))
    judgement = stage.verify()
    # How long things may take is each trial's own: it waits until they are in order.
    findings = [
        f"{ruling.number}: {finding.text}"
        for ruling in judgement.rulings
        for finding in ruling.findings
        if ruling.number.startswith("S")
    ]
    assert findings == []
    assert judgement.nothing == ""
