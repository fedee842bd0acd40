"""The topics of an engine in memory as rows, as a view reads them."""

from collections.abc import Iterator

from fairlead.view.summary import GroupSummary
from fairlead.view.view import View
from fairlead.wire.raw import RawRecord
from tests.engine.topics import NAMES, PARTITIONS
from tests.engine.world import World

DAY_MS = 86_400_000


def rows_of(world: World) -> list[RawRecord]:
    """Return everything that clients, bridges and the engine have written."""
    return [*_read(world), *_written(world)]


def _read(world: World) -> Iterator[RawRecord]:
    for log in world.topics.rows.values():
        yield from log


def _written(world: World) -> Iterator[RawRecord]:
    for (topic, partition), log in world.topics.written.items():
        for offset, record in enumerate(log):
            stamp = (offset, world.topics.now_ms, False)
            yield RawRecord(topic, partition, *stamp, record.key, record.value)


def view_of(world: World) -> View:
    """Return the view of everything that was written."""
    view = View(NAMES, PARTITIONS, DAY_MS)
    view.take(rows_of(world))
    return view


def summary_of(world: World) -> GroupSummary:
    """Return the line about the only group."""
    (found,) = view_of(world).groups()
    return found
