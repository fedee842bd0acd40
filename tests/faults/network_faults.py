"""Faults of the network: the kernel loses packets between the broker and everybody else."""

import random
import time
from pathlib import Path
from typing import Any, Final

from tests.faults.network import losing
from tests.faults.stage import JOIN_STARTS_MAX, RATE, Stage
from tests.faults.troop import TroopPlan

LOSS_SECONDS: Final = 45.0
DECIDED_SECONDS_MAX: Final = 60.0
"""From a leave or a join to every queue in order. On an idle machine it takes three to ten."""
_CLIENT: Final[dict[str, Any]] = {"progress_ms": 300, "commit_ms": 1_000}
DEFAULT_LEASE: Final = TroopPlan(
    "quick", "q", 5, {**_CLIENT, "lease_ms": 15_000, "heartbeat_ms": 3_000}
)
"""Lease and heartbeats as conf/ has them."""


def packets_lost(stage: Stage, share: float, folder: Path, chance: random.Random) -> None:
    """So many packets are lost for a while; a client leaves meanwhile, and another one joins."""
    quick = stage.quick
    port = int(stage.system.bootstrap.rpartition(":")[2])
    leaver = chance.choice(quick.members())
    with stage.trial(f"{share:.0%} of packets lost") as trial:
        until = time.monotonic() + LOSS_SECONDS
        with losing(port, share, folder) as loss:
            with stage.phase(trial, "one leaves", owners={leaver}):
                quick.fleet.leave(leaver)
            with stage.phase(trial, "one joins", starts_max=JOIN_STARTS_MAX):
                quick.reinforce()
            while time.monotonic() < until:
                quick.await_processed(RATE)
        took = [(each.ended_ns - each.begun_ns) / 1e9 for each in trial.phases]
    assert loss.packets > LOSS_SECONDS * RATE
    assert abs(loss.share - share) < share / 3, loss
    assert max(took) < DECIDED_SECONDS_MAX, took
