"""The context and the result of a shard's run, as values."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from fairlead.codec.stored import StoredShard
from fairlead.core.model import Epoch
from fairlead.core.outputs import Decision
from fairlead.core.records import Tick
from fairlead.core.rules.group_rules import EngineRules
from fairlead.engine.seals import is_shown
from fairlead.wire.raw import OutgoingRecord, Partitions
from fairlead.wire.topics import TopicNames

__all__ = ["DecisionSummary", "ShardContext", "ShardResult", "StepFailure"]


@dataclass(frozen=True, slots=True)
class ShardContext:
    """Everything a shard's run depends on besides its state and its rows.

    ``rules`` has the driver's generation, the strategies, the defaults of ``conf/`` and the limits;
    the shard itself puts the rules of all groups over these defaults. ``tick_ms`` is the period of
    the driver's ticks. ``first_run``: no engine ever wrote to these topics, so an empty state is no
    loss. ``begin`` is where an engine without state begins to read: topic -> partition -> offset,
    of all shards; elsewhere the first record. ``seals``: the seals of the driver's first ticks, by
    shard; none: its ticks need no secret.
    """

    rules: EngineRules
    shard: int
    partitions: Partitions
    topics: TopicNames = field(default_factory=TopicNames)
    tick_ms: int = 1_000
    engine_version: str = "0"
    first_run: bool = False
    begin: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    seals: tuple[str, ...] = ()

    @property
    def generation(self) -> int:
        """The generation of the driver that runs the shard."""
        return self.rules.generation

    @property
    def is_sealed(self) -> bool:
        """Tell whether only a sealed tick marks the driver's start."""
        return bool(self.seals)

    def is_marker(self, tick: Tick) -> bool:
        """Tell whether a tick of the driver's generation shows the driver's secret."""
        return is_shown(tick.secret, self.seals, self.shard)


@dataclass(frozen=True, slots=True)
class StepFailure:
    """A step that raised: the class of the exception, and its traceback for the engine's own log.

    The traceback goes nowhere else: its text may differ from run to run.
    """

    group: str
    error: str
    traceback: str


@dataclass(frozen=True, slots=True)
class DecisionSummary:
    """What the engine's log says of a decision; ``moves`` counts queues by stage."""

    group: str
    epoch: Epoch
    triggers: tuple[str, ...]
    moves: Mapping[str, int]
    phase: str
    alarms: tuple[str, ...]

    @classmethod
    def of(cls, decision: Decision) -> "DecisionSummary":
        """Return the summary of a decision."""
        moves = Counter(move.stage for move in decision.moves)
        return cls(
            decision.group,
            decision.epoch,
            decision.triggers,
            {stage: moves[stage] for stage in sorted(moves)},
            decision.state.phase,
            decision.alarms,
        )


@dataclass(frozen=True, slots=True)
class ShardResult:
    """The shard after a run, the records to write in this order, and counters.

    ``counts`` have names like ``events/heartbeat/applied``; streaming/families.py lists them.
    ``failures`` and ``decided`` are for the engine's log. ``append_times``, by kind, are those of
    the records that were new: metrics compute their age.
    """

    stored: StoredShard
    records: tuple[OutgoingRecord, ...]
    counts: Mapping[str, int]
    failures: tuple[StepFailure, ...] = field(default=(), compare=False)
    append_times: Mapping[str, tuple[int, ...]] = field(default_factory=dict, compare=False)
    decided: tuple[DecisionSummary, ...] = field(default=(), compare=False)
