"""Faults of the broker: killed and back, and standing still.

The quick group's lease is shorter than each of the longer outages, the patient group's longer: so
one outage is beyond the lease of the one and within that of the other.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager

from fairlead_proof.demo.floor import Floor

from fairlead.broker.ports import is_listening
from fairlead.broker.state import read_state
from tests.faults.stage import LEASE_SECONDS, Stage
from tests.faults.standstill import Standstill


def restarted(stage: Stage, _chance: random.Random) -> None:
    """SIGKILL; it is started again when the last lease of the quick group is over."""
    with stage.trial("broker restarted") as trial:
        port = int(stage.system.bootstrap.rpartition(":")[2])
        broker = stage.system.broker
        with stage.phase(trial, "restarted"), stage.leases_lost(trial):
            broker.kill()
            assert not is_listening(port)
            _await_stopped(stage)
            broker.restart()
            assert is_listening(port)


def stood_still_briefly(stage: Stage, _chance: random.Random) -> None:
    """SIGSTOP for half a lease of the quick group: nobody notices."""
    with (
        stage.trial("broker stood still briefly") as trial,
        stage.phase(trial, "stood still", owners=set()),
        _standstill(stage) as still,
    ):
        still.hold(0.5 * LEASE_SECONDS)


def stood_still(stage: Stage, _chance: random.Random) -> None:
    """SIGSTOP for one and a half leases of the quick group: it stops by itself, and comes back."""
    with (
        stage.trial("broker stood still") as trial,
        stage.phase(trial, "stood still"),
        stage.leases_lost(trial),
        _standstill(stage) as still,
    ):
        _await_stopped(stage)
        still.hold(1.5 * LEASE_SECONDS)


@contextmanager
def _standstill(stage: Stage) -> Iterator[Standstill]:
    state = read_state(stage.system.broker.data_dir)
    assert state is not None
    (process,) = state.processes()
    with Standstill(process.pid) as still:
        yield still


def _await_stopped(stage: Stage) -> None:
    """Return when no client of the quick group works on anything, each by its own decision."""

    def idle(floor: Floor) -> bool:
        return not floor.working

    stage.quick.await_floor(idle, "clients that stop by themselves")
