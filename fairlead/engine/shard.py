"""One batch of one shard, from bytes to bytes.

:func:`run_shard` is pure: the same state and the same rows, in any order and any chunking, give
the same bytes. It reads no clock, no environment and no chance, and iterates no set.
"""

from collections.abc import Sequence

from fairlead.codec.stored import StoredShard
from fairlead.engine.context import ShardContext, ShardResult
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
    raise NotImplementedError((stored, rows, context))
