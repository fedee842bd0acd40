"""Wrong wall clocks of broker, engine and driver: who owns what is decided on the log's clock."""

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairlead.java import find_java
from tests.faults import clock_faults
from tests.faults.clock_faults import HOUR, TEN_MINUTES
from tests.faults.clocks import WHO, Clocks, ahead_by, shifted_clocks
from tests.faults.fault_packages import ensure_faketime
from tests.kit.awaiting import LONGEST_SECONDS, SECONDS

if TYPE_CHECKING:
    from tests.faults.conftest import Stages
    from tests.faults.stage import Stage

pytestmark = [
    pytest.mark.system, pytest.mark.broker, pytest.mark.spark, pytest.mark.slow,
    pytest.mark.alone, pytest.mark.timeout(900),
]  # fmt: skip


@pytest.fixture(scope="module")
def clocks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clocks]:
    """The clocks of a system of this module's own."""
    with shifted_clocks(tmp_path_factory.mktemp("clocks")) as found:
        yield found


@pytest.fixture(scope="module")
def shifted(
    clocks: Clocks, stages: "Stages", tmp_path_factory: pytest.TempPathFactory
) -> "Iterator[Stage]":
    """The system; each trial leaves its clocks true."""
    from tests.faults.stage import Stage

    del clocks
    # One system at a time.
    stages.close()
    with Stage(tmp_path_factory.mktemp("shifted")) as stage:
        yield stage


@pytest.fixture
def stage(shifted: "Stage", clocks: Clocks) -> "Iterator[Stage]":
    """The system in order."""
    assert shifted.sound, "a trial before this one failed"
    yield shifted
    for who in WHO:
        clocks.set(who, 0)


def test_only_the_clock_is_shifted(tmp_path: Path) -> None:
    """The injector does what it says: Java sees another time, and waits as long as ever."""
    clocks = Clocks(tmp_path)
    clocks.set("jvm", HOUR)
    variables = clocks.variables("jvm", ensure_faketime(lambda _: None))
    done = subprocess.run(
        [find_java().executable, Path(__file__).with_name("Waits.java")],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST_SECONDS,
    )
    now_ms, *waits = map(int, done.stdout.split())
    assert abs(ahead_by(now_ms) - HOUR) < SECONDS
    assert len(waits) == 3
    assert min(waits) >= 150


@pytest.mark.parametrize("seconds", [TEN_MINUTES, -TEN_MINUTES, HOUR])
@pytest.mark.parametrize("who", ["jvm", "driver", "broker"])
def test_a_wrong_clock_disturbs_nobody(
    stage: "Stage", clocks: Clocks, who: str, seconds: int
) -> None:
    """A clock is set, is wrong while clients die and join, and is set right: nobody notices."""
    clock_faults.skewed(stage, clocks, who, seconds, random.Random(seconds))


@pytest.mark.parametrize("who", ["jvm", "driver"])
def test_an_engine_behind_its_own_records_goes_on(stage: "Stage", clocks: Clocks, who: str) -> None:
    """An engine that starts with a clock behind its own records goes on where they end."""
    clock_faults.restarted_under(stage, clocks, who, random.Random(1))


def test_the_records_break_no_invariant(stage: "Stage") -> None:
    """After all of it the records break no invariant."""
    judgement = stage.verify()
    found = [finding.text for ruling in judgement.rulings for finding in ruling.findings]
    assert found == []
    assert judgement.nothing == ""
