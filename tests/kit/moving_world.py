"""A world whose queues move for many reasons, as a recording with true times."""

from pathlib import Path

import orjson

from fairlead.recording import RecordingFolder
from fairlead.wire.raw import RawRecord
from tests.kit.memory_topics import shard_of
from tests.kit.recordings import rows_of, settings_of, write_recording
from tests.kit.world import World

GROUP = "orders"
_WRITTEN_AFTER_MS = 20
"""So long after the newest record that it had read an engine writes a decision."""

Rows = dict[tuple[str, int], list[RawRecord]]


def moving_life() -> World:
    """A join, a death, an operator's pin, a reset and a clean leave, in this order."""
    world = World(queues={"orders": 6})
    world.topics.tick(1)
    first, second = world.join("c1"), world.join("c2")
    world.pass_seconds(8)
    world.join("c3")
    world.pass_seconds(8)
    second.gone = True
    world.pass_seconds(18)
    world.topics.rule(GROUP, "strategy", {"name": "STICKY"}, because="fewer moves")
    world.pass_seconds(4)
    pin = {"queue": ["orders", "main", 0], "client_id": "c3"}
    world.topics.rule(GROUP, "pin", pin, "orders", "main", 0, by="alice", because="warm cache")
    world.pass_seconds(4)
    key = orjson.dumps([GROUP, "reset", "orders", "main", 5])
    reset = {"kind": "reset", "group": GROUP, "queue": ["orders", "main", 5], "offset": 3}
    world.topics.append("control", shard_of(GROUP), key, {**reset, "by": "bob"})
    world.pass_seconds(4)
    first.leave()
    world.pass_seconds(4)
    return world


def timed_rows(world: World) -> Rows:
    """Return a world's rows; its decisions are written shortly after what they had read."""
    rows = rows_of(world)
    rows["decisions", 0] = [
        row._replace(append_ms=orjson.loads(row.value or b"")["at_ms"] + _WRITTEN_AFTER_MS)
        for row in rows["decisions", 0]
    ]
    return rows


def recorded(world: World, folder: Path, rows: Rows | None = None) -> RecordingFolder:
    """Write a world, or the rows that were made of it, as a recording."""
    return write_recording(folder, rows or timed_rows(world), settings_of(world))
