"""One batch of one shard, from bytes to bytes (ADR 0041).

:func:`run_shard` is pure: the same state and the same rows, in any order and any chunking, give
the same bytes (rule H16). It reads no clock, no environment and no chance, and iterates no set.
Groups that neither have a record in the batch nor are due pass as the bytes they are.
"""

from collections.abc import Sequence

from fairlead.codec.shard import OpenShard, ShardHeader, open_shard
from fairlead.codec.stored import StoredShard
from fairlead.core.outputs import Origin
from fairlead.engine.context import ShardContext, ShardResult
from fairlead.engine.errors import HigherGenerationError
from fairlead.engine.reading import order_of, read_rows
from fairlead.engine.round import Round
from fairlead.wire.raw import RawRecord

__all__ = ["begin_anew", "run_shard"]


def run_shard(
    stored: StoredShard | None, rows: Sequence[RawRecord], context: ShardContext
) -> ShardResult:
    """Read a batch of rows into a shard and decide what follows.

    Args:
        stored: the shard after the batch before; None for a shard that never had a row, and after
            a loss of its state: it recovers, unless this is the first run of all.
        rows: the batch, in any order; rows that were read before are skipped.
        context: the driver's.

    Raises:
        AppendTimeMissingError: a topic that carries the clock lacks the broker's append time.
        HigherGenerationError: a driver of a higher generation has taken over.
        CodecError: the stored bytes are damaged, or another version has written them.
    """
    opened = _open(stored, context)
    batch = read_rows(opened, rows, context)
    round_ = Round(context, opened, batch)
    round_.refuse(sorted(batch.refused, key=lambda refused: order_of(context, refused.row)))
    round_.turn_away()
    round_.set_defaults()
    for group in round_.groups():
        round_.visit(group)
    return round_.close()


def begin_anew(context: ShardContext) -> OpenShard:
    """Return an empty shard that recovers after a loss of its state."""
    begin = {
        topic: {context.shard: partitions[context.shard]}
        for topic, partitions in sorted(context.begin.items())
        if context.shard in partitions
    }
    origin = Origin(context.generation, begin)
    header = ShardHeader(positions=begin, origin=origin, recovering=True)
    return OpenShard(0, 0, header, {}, b"")


def _open(stored: StoredShard | None, context: ShardContext) -> OpenShard | None:
    if stored is None:
        return None if context.first_run or context.generation == 1 else begin_anew(context)
    opened = open_shard(stored)
    newest = max(opened.header.generation, opened.header.marker)
    if newest > context.generation:
        raise HigherGenerationError(newest, context.generation)
    return opened
