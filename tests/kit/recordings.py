"""What a world of the engine's tests leaves in its topics, as a recording."""

from pathlib import Path

import orjson

from fairlead.core.records import DriverSettings
from fairlead.recording import Manifest, RecordingFolder, RecordingWriter, open_recording
from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import ALL_TOPICS
from tests.kit.memory_topics import NAMES, PARTITIONS, START_MS
from tests.kit.world import World

VERSION = "0.0.test"
"""What the engine of those tests calls itself."""


def settings_of(world: World) -> DriverSettings:
    """Return what the world's drivers run under."""
    rules = world.context(0).rules
    return DriverSettings(
        1_000,
        rules.auto_create,
        rules.evict_after_ms,
        rules.chain_cap,
        tuple(sorted(world.strategies)),
        rules.switch_ms,
    )


def rows_of(world: World) -> dict[tuple[str, int], list[RawRecord]]:
    """Return every topic of a world, partition by partition; those without records too."""
    shards, assignments = PARTITIONS
    numbers = {"heartbeats": shards, "releases": shards, "control": shards}
    rows = {
        (suffix, number): world.topics.log(NAMES.name(suffix), number)
        for suffix in ALL_TOPICS
        for number in range({**numbers, "assignments": assignments}.get(suffix, 1))
    }
    rows["generations", 0] = [_claim(world, number) for number in range(world.generation)]
    return rows


def _claim(world: World, offset: int) -> RawRecord:
    driver = f"5d0d7a52-51c9-4c56-8a4a-{offset:012d}"
    settings = settings_of(world)
    body = {
        "v": 1,
        "kind": "generation",
        "driver": driver,
        "started_ms": START_MS,
        "version": VERSION,
        "settings": {
            name: getattr(settings, name)
            for name in ("tick_ms", "auto_create", "evict_after_ms", "chain_cap", "strategies")
        },
    }
    topic = NAMES.name("generations")
    return RawRecord(topic, 0, offset, START_MS, True, driver.encode(), orjson.dumps(body))  # noqa: FBT003


def write_recording(
    folder: Path,
    rows: dict[tuple[str, int], list[RawRecord]],
    settings: DriverSettings,
    *,
    running: bool = False,
) -> RecordingFolder:
    """Write rows, by suffix and partition, as a recording."""
    writer = RecordingWriter(folder)
    for (suffix, number), log in rows.items():
        first = log[0].offset if log else 0
        end = log[-1].offset + 1 if log else 0
        with writer.partition(suffix, number, first, end) as file:
            for row in log:
                file.add(row)
    manifest = Manifest(NAMES.prefix, START_MS, VERSION, running, settings, writer.topics())
    writer.finish(manifest)
    return open_recording(folder)


def record(world: World, folder: Path) -> RecordingFolder:
    """Write a world as a recording."""
    return write_recording(folder, rows_of(world), settings_of(world))
