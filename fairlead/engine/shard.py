"""One batch of one shard, from bytes to bytes.

:func:`run_shard` is pure: the same state and the same rows, in any order and any chunking, give
the same bytes. It reads no clock, no environment and no chance, and iterates no set. Groups that
neither have a record in the batch nor are due pass as the bytes they are.
"""

from collections.abc import Sequence

from fairlead.codec.shard import OpenShard, open_shard
from fairlead.codec.stored import StoredShard
from fairlead.engine.context import ShardContext, ShardResult
from fairlead.engine.errors import HigherGenerationError, StateMissingError
from fairlead.engine.reading import order_of, read_rows
from fairlead.engine.round import Round
from fairlead.wire.raw import RawRecord

__all__ = ["run_shard"]


def run_shard(
    stored: StoredShard | None, rows: Sequence[RawRecord], context: ShardContext
) -> ShardResult:
    """Read a batch of rows into a shard and decide what follows.

    Args:
        stored: the shard as the batch before left it; None for a shard that never had a row.
        rows: the batch, in any order; rows that were read before are skipped.
        context: what the shard is run under.

    Raises:
        AppendTimeMissingError: a topic that carries the clock lacks the broker's append time.
        HigherGenerationError: a driver of a higher generation has taken over.
        StateMissingError: there is no state, but an earlier generation ran.
        CodecError: the stored bytes are damaged, or of a version that this engine does not know.
    """
    opened = _open(stored, context)
    batch = read_rows(opened, rows, context)
    round_ = Round(context, opened, batch)
    round_.refuse(sorted(batch.refused, key=lambda refused: order_of(context, refused.row)))
    round_.set_defaults()
    for group in round_.groups():
        round_.visit(group)
    return round_.close()


def _open(stored: StoredShard | None, context: ShardContext) -> OpenShard | None:
    if stored is None:
        if context.generation > 1 and not context.first_run:
            raise StateMissingError(context.shard, context.generation)
        return None
    opened = open_shard(stored)
    newest = max(opened.header.generation, opened.header.marker)
    if newest > context.generation:
        raise HigherGenerationError(newest, context.generation)
    return opened
