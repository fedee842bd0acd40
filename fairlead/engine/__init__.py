"""The shard machine, from rows and stored bytes to records and stored bytes, and its replay."""

from fairlead.codec.stored import StoredShard
from fairlead.engine.context import ShardContext, ShardResult
from fairlead.engine.errors import (
    AppendTimeMissingError,
    HigherGenerationError,
    StateMissingError,
)
from fairlead.engine.shard import run_shard

__all__ = [
    "AppendTimeMissingError",
    "HigherGenerationError",
    "ShardContext",
    "ShardResult",
    "StateMissingError",
    "StoredShard",
    "run_shard",
]
