"""Rules of a group and moved starts, on a whole system; and clients that do not answer."""

import random
from typing import TYPE_CHECKING

import pytest

from tests.faults import rule_faults
from tests.faults.turns import turns

if TYPE_CHECKING:
    from tests.faults.stage import Fault, Stage

pytestmark = [pytest.mark.system, pytest.mark.broker, pytest.mark.spark]


@pytest.mark.parametrize("turn", turns())
@pytest.mark.parametrize(
    "fault",
    [
        rule_faults.eager,
        pytest.param(rule_faults.forced, marks=pytest.mark.slow),
        # The explorer has it in every order of events.
        pytest.param(rule_faults.eager_but_ordered, marks=pytest.mark.slow),
        # Windows and resets are also told as stories, without an engine of their own.
        pytest.param(rule_faults.settled, marks=pytest.mark.slow),
        pytest.param(rule_faults.start_moved, marks=pytest.mark.slow),
        # An engine started once more; others test that too.
        pytest.param(rule_faults.mute_in_a_barrier, marks=pytest.mark.slow),
    ],
    ids=lambda fault: fault.__name__,
)
def test_rules_grant_and_repeat_only_what_was_asked_for(
    stage: "Stage", fault: "Fault", turn: int
) -> None:
    """Who is granted beside whom, and what is read again, is what an operator asked for."""
    fault(stage, random.Random(turn))
