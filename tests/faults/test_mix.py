"""Faults of all kinds one after another, in an order of chance; a failure names its seed."""

import functools
import os
import random
from typing import TYPE_CHECKING, Final

import pytest

from tests.faults import broker_faults, client_faults, engine_faults, log_faults, rule_faults

if TYPE_CHECKING:
    from tests.faults.stage import Fault, Stage

FAULTS: "Final[tuple[Fault, ...]]" = (
    client_faults.killed,
    client_faults.told_to_go,
    client_faults.restarted_in_grace,
    client_faults.frozen,
    client_faults.drained_in_vain,
    client_faults.drain_deadline_passed,
    client_faults.cloned,
    rule_faults.eager,
    rule_faults.eager_but_ordered,
    rule_faults.forced,
    rule_faults.settled,
    rule_faults.start_moved,
    rule_faults.mute_in_a_barrier,
    log_faults.wrong_partition,
    log_faults.refused_heartbeats,
    broker_faults.restarted,
    broker_faults.stood_still_briefly,
    broker_faults.stood_still,
    *(functools.partial(engine_faults.killed, what=what) for what in engine_faults.KILLED),
    engine_faults.stood_still,
    engine_faults.second_on_its_checkpoint,
    engine_faults.second_on_a_copy,
    engine_faults.old_checkpoint,
    engine_faults.lost_checkpoint,
)
_COUNT: Final = 25
_SEED: Final = "FAULTS_SEED"


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(3_600)
def test_any_mix_of_faults_costs_no_owner_and_no_message(stage: "Stage") -> None:
    """Whatever follows whatever, every queue has one owner and nobody loses a message."""
    seed = int(os.environ.get(_SEED) or random.SystemRandom().randrange(2**32))
    chance = random.Random(seed)
    done: list[str] = []
    try:
        for fault in chance.choices(FAULTS, k=_COUNT):
            done.append(str(fault))
            fault(stage, chance)
    except (AssertionError, TimeoutError) as error:
        raise AssertionError(f"{_SEED}={seed}, after {done}: {error}") from error
