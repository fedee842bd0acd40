"""The shard machine, from rows and stored bytes to records and stored bytes, and its replay."""

from fairlead.codec.stored import StoredShard
from fairlead.engine.comparison import Comparison, Difference, Written, compare
from fairlead.engine.context import ShardContext, ShardResult, StepFailure
from fairlead.engine.errors import AppendTimeMissingError, HigherGenerationError
from fairlead.engine.recorded_log import Recording
from fairlead.engine.replay import ReplayError, cuts_of, replay_shard
from fairlead.engine.shard import run_shard

__all__ = [
    "AppendTimeMissingError",
    "Comparison",
    "Difference",
    "HigherGenerationError",
    "Recording",
    "ReplayError",
    "ShardContext",
    "ShardResult",
    "StepFailure",
    "StoredShard",
    "Written",
    "compare",
    "cuts_of",
    "replay_shard",
    "run_shard",
]
