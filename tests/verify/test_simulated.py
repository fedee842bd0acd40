"""Simulated lives, of the real shard machine and the real client session, in the checker's eyes."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from fairlead_proof.sim.client import ASSIGNMENTS_PARTITIONS
from fairlead_proof.sim.schedule import CATALOGUE, run_schedule
from fairlead_proof.sim.world import SimulatedWorld

from fairlead.core.records import DriverSettings
from fairlead.recording import Manifest, RecordingFolder, RecordingWriter, open_recording
from fairlead.verify.judgement import Judgement, judge_recording
from fairlead.wire.topics import ALL_TOPICS, CLIENT_TOPICS
from strategies.registry import STRATEGIES

ALL = frozenset({"S2", "S3", "S4", "S5", "S9", "S10", "S11", "S12", "S15", "L1", "L2", "L3", "L4"})
"""What a recording of any life must hold. A simulated one may lose records that a broker keeps, so
that its replay differs."""


FOUND = (13, 22, 24, 25, 42, 56, 76, 88, 108, 128, 164, 177)
"""Restless lives in which something was found once. What happens in a life changes with whatever
takes another time, so by now they are lives like others.
"""


def seldom(seeds: Iterable[int], others: Iterable[int]) -> list[Any]:
    """Return the seeds of `make test`, and those of `make test-long` alone."""
    return [*seeds, *(pytest.param(each, marks=pytest.mark.slow) for each in others)]


def record_of(world: SimulatedWorld, folder: Path) -> RecordingFolder:
    """Write what stands in a simulated broker as a recording."""
    writer = RecordingWriter(folder)
    for suffix in ALL_TOPICS:
        told = suffix in {"assignments", *CLIENT_TOPICS}
        for number in range(ASSIGNMENTS_PARTITIONS if told else 1):
            partition = world.kafka.partition(suffix, number)
            with writer.partition(suffix, number, 0, partition.end) as file:
                for row in partition.between(0, partition.end):
                    file.add(row)
    scenario = world.scenario
    names = tuple(sorted(STRATEGIES))
    settings = DriverSettings(
        scenario.tick_ms,
        True,  # noqa: FBT003
        600_000,
        scenario.chain_cap,
        names,
        scenario.switch_ms,
    )
    writer.finish(Manifest("fairlead.", 1, "0", False, settings, writer.topics()))  # noqa: FBT003
    return open_recording(folder)


@pytest.fixture
def worlds(monkeypatch: pytest.MonkeyPatch) -> list[SimulatedWorld]:
    """The worlds of the schedules that a test runs."""
    kept: list[SimulatedWorld] = []

    class Kept(SimulatedWorld):
        """A world that stays to be looked at."""

        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            kept.append(self)

    monkeypatch.setattr("fairlead_proof.sim.schedule.SimulatedWorld", Kept)
    return kept


def _judge(seed: int, worlds: list[SimulatedWorld], folder: Path) -> Judgement:
    assert run_schedule(seed).breach is None
    (world,) = worlds
    return judge_recording(record_of(world, folder), STRATEGIES, defaults=world.scenario.rules)


def _told(judgement: Judgement, numbers: frozenset[str]) -> list[str]:
    return [
        f"{each.number}: {finding.text}"
        for each in judgement.rulings
        if each.number in numbers
        for finding in each.findings
    ]


@pytest.mark.parametrize("seed", seldom(range(8), range(8, 25)))
def test_a_simulated_history_breaks_no_invariant(
    seed: int, worlds: list[SimulatedWorld], tmp_path: Path
) -> None:
    """What a simulated life leaves in its topics breaks no invariant, whatever happened in it."""
    judgement = _judge(seed, worlds, tmp_path / "recording")
    assert _told(judgement, ALL) == []
    assert judgement.counts["decisions"] >= 3


def long_ago(world: SimulatedWorld) -> bool:
    """The engine is killed, and any checkpoint that it ever wrote is put in place of the newest."""
    driver, saved = world.driver, len(world.checkpoint.saved)
    if driver is None or not driver.generation or saved < 12:
        return False
    driver.kill()
    world.checkpoint.put_back(world.chance.between(5, saved - 1))
    world.timeline.after(world.chance.between(100, 30_000), world.start_if_none)
    return True


@pytest.fixture
def restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drivers die, stand still and overlap, and states are lost or put back, most of the time.

    Nothing is lost of what they write, nor compacted away, so that everything can be run again.
    """
    catalogue = [
        (what, 3 * weight if "engine" in what.__name__ or "checkpoint" in what.__name__ else weight)
        for what, weight in CATALOGUE
        if what.__name__ != "log_compacted"
    ]
    monkeypatch.setattr("fairlead_proof.sim.schedule.CATALOGUE", (*catalogue, (long_ago, 12)))
    monkeypatch.setattr("fairlead_proof.sim.checkpoint.KEPT", 400)
    monkeypatch.setattr("fairlead_proof.sim.driver.Driver._kept", lambda _, records: iter(records))


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("seed", seldom([1, 2, *FOUND[:4]], [*range(3, 7), *FOUND[4:]]))
def test_restless_starts_accuse_nobody(
    seed: int, worlds: list[SimulatedWorld], tmp_path: Path
) -> None:
    """Starts on older, copied and lost states accuse nobody; all of it comes out of a replay."""
    judgement = _judge(seed, worlds, tmp_path / "recording")
    assert _told(judgement, ALL | {"S6", "S7", "S13", "S14"}) == []
    assert judgement.counts["generations"] >= 2
    assert judgement.counts["replayed"] >= 3
