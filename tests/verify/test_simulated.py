"""Simulated lives, of the real shard machine and the real client session, in the checker's eyes."""

from pathlib import Path

import pytest

from fairlead.core.records import DriverSettings
from fairlead.recording import Manifest, RecordingFolder, RecordingWriter, open_recording
from fairlead.sim.client import ASSIGNMENTS_PARTITIONS
from fairlead.sim.schedule import run_schedule
from fairlead.sim.world import World
from fairlead.verify.judgement import judge_recording
from fairlead.wire.topics import INPUT_TOPICS, OUTPUT_TOPICS
from strategies.registry import STRATEGIES

ALL = frozenset({"S2", "S3", "S4", "S5", "S9", "S10", "S11", "S12", "S15", "L1", "L2", "L3", "L4"})
"""What a recording of any life must hold. A simulated one may lose records that a broker keeps, so
that its replay differs."""


def record_of(world: World, folder: Path) -> RecordingFolder:
    """Write what stands in a simulated broker as a recording."""
    writer = RecordingWriter(folder)
    for suffix in INPUT_TOPICS + OUTPUT_TOPICS:
        for number in range(ASSIGNMENTS_PARTITIONS if suffix == "assignments" else 1):
            partition = world.kafka.partition(suffix, number)
            with writer.partition(suffix, number, 0, partition.end) as file:
                for row in partition.between(0, partition.end):
                    file.add(row)
    scenario = world.scenario
    names = tuple(sorted(STRATEGIES))
    settings = DriverSettings(scenario.tick_ms, True, 600_000, scenario.chain_cap, names)  # noqa: FBT003
    writer.finish(Manifest("fairlead.", 1, "0", False, settings, writer.topics()))  # noqa: FBT003
    return open_recording(folder)


@pytest.mark.parametrize("seed", range(25))
def test_a_simulated_life(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a simulated life leaves in its topics breaks no invariant, whatever happened in it."""
    worlds: list[World] = []

    class Kept(World):
        """A world that stays to be looked at."""

        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]  # as they are given
            worlds.append(self)

    monkeypatch.setattr("fairlead.sim.schedule.World", Kept)
    assert run_schedule(seed).breach is None
    (world,) = worlds
    recording = record_of(world, tmp_path / "recording")
    judgement = judge_recording(recording, STRATEGIES, defaults=world.scenario.rules)
    told = [
        f"{each.number}: {finding.text}"
        for each in judgement.rulings
        if each.number in ALL
        for finding in each.findings
    ]
    assert told == []
    assert judgement.counts["decisions"] >= 3
