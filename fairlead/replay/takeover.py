"""Whether rows show that another driver has taken over."""

from collections.abc import Callable, Iterable

from fairlead.core.records import Tick
from fairlead.engine.context import ShardContext
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import RawRecord

__all__ = ["is_taken_over"]


def is_taken_over(
    rows: Iterable[RawRecord],
    former: ShardContext,
    generation: int,
    contexts: Callable[[int, int], ShardContext],
) -> bool:
    """Tell whether rows prove that a driver of up to this generation has followed.

    A driver with sealed ticks passes over ticks of others, but it was gone by then: it follows the
    generations topic.
    """
    heartbeats, limits = former.topics.name("heartbeats"), WireLimits(former.partitions.shards)
    for row in rows:
        if row.topic != heartbeats or row.key is not None:
            continue
        try:
            record = decode("heartbeats", row, limits)
        except WireError:
            continue
        if (
            isinstance(record, Tick)
            and former.generation < record.generation <= generation
            and contexts(former.shard, record.generation).is_marker(record)
        ):
            return True
    return False
