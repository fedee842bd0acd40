"""What the script does when something goes wrong: it ends, and says why."""

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fairlead_proof.demo.fleet import Fleet
from fairlead_proof.demo.script import FIRST, Script, StepError
from fairlead_proof.local.child import Child, Killing
from fairlead_proof.local.ownership import Ownership

from fairlead.errors import EnvironmentMissingError
from fairlead.verify.history import Closing


class Quiet:
    """Decisions of an engine that decides nothing."""

    def __init__(self) -> None:
        self.ownership = Ownership()

    def raise_failure(self) -> None:
        """Nothing fails."""


class Engine:
    """A system that is one process."""

    def __init__(self, child: Child) -> None:
        self.child = child

    def grow(self, partitions: int) -> None:
        """There is nothing to grow."""
        raise NotImplementedError(partitions)

    def kill_engine(self) -> Killing:
        """Kill the process."""
        return self.child.kill()

    def start_engine(self) -> None:
        """It is not started again."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise if the process is gone."""
        if self.child.exit_code is not None:
            raise EnvironmentMissingError("engine: it ended")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A process that lives until it is killed."""
    child = Child("engine", ["/bin/cat"], tmp_path / "engine.log")
    yield Engine(child)
    child.stop()


def _script(fleet: Fleet, engine: Engine, patience_s: float) -> Script:
    return Script(fleet, Quiet(), engine, random.Random(1), patience_s=patience_s)


def test_a_step_without_an_end_ends_the_script(fleet: Fleet, engine: Engine) -> None:
    """A step that does not come to its end in time ends the script with what was waited for."""
    script = _script(fleet, engine, patience_s=0.1)
    script.prepare()
    assert fleet.wait_until(
        lambda floor: all(seat.state == "ready" for seat in floor.seats.values()), 60.0
    )
    with pytest.raises(StepError, match="in vain for 6 members to own 32 queues"):
        script.start()
    assert [note.settled_ns for note in script.notes] == [None]
    script.close()
    assert isinstance(script.steps[-1], Closing)
    assert {fleet.floor.seats[client_id].state for client_id in FIRST} == {"left"}


def test_a_consumer_that_dies_by_itself_ends_the_script(fleet: Fleet, engine: Engine) -> None:
    """A consumer that dies by itself ends the script, also between two steps."""
    script = _script(fleet, engine, patience_s=60.0)
    fleet.start("moody-1")
    fleet.leave("moody-1")
    with pytest.raises(StepError, match="consumer moody-1 died:\nI will not"):
        script.pause(time.monotonic() + 60.0)


def test_an_engine_that_dies_by_itself_ends_the_script(fleet: Fleet, engine: Engine) -> None:
    """An engine that nobody killed and that is gone ends the script."""
    script = _script(fleet, engine, patience_s=60.0)
    engine.kill_engine()
    with pytest.raises(EnvironmentMissingError, match="it ended"):
        script.await_floor(lambda _: False, "the impossible")
