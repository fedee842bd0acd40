"""What a shard is run under, and what comes of it, as values."""

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

__all__ = ["Decided", "ShardContext", "ShardResult", "StepFailure"]


@dataclass(frozen=True, slots=True)
class ShardContext:
    """Everything a shard's run depends on besides its state and its rows.

    ``rules`` carries the driver's generation, the strategies, the defaults of ``conf/`` and the
    limits; rules set for all groups by control records are put over its defaults by the shard
    itself. ``tick_ms`` is the period of the driver's ticks: the clock moves at most twice that
    from one record to the next. ``first_run``: the driver vouches that no engine ever wrote for
    these topics, so that an empty state is no loss. ``begin`` is where an engine that lost its
    state begins to read: topic -> partition -> offset, of all shards; the first record elsewhere.
    ``seals``: what the driver's claim says of its first ticks, by shard; none: a driver of a
    version that did not seal them, whose ticks are believed as they are.
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
        """Tell whether a tick of the driver's generation shows that the driver itself wrote it."""
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
class Decided:
    """What the engine's log says of a decision; the decision record has all of it.

    ``moves``: by stage, how many queues came so far.
    """

    group: str
    epoch: Epoch
    triggers: tuple[str, ...]
    moves: Mapping[str, int]
    phase: str
    alarms: tuple[str, ...]

    @classmethod
    def of(cls, decision: Decision) -> "Decided":
        """Return the few words of a decision."""
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
    """The shard after a run, what is to be written in this order, and what was counted.

    ``counts`` are by names like ``events/heartbeat/applied``; streaming/families.py lists
    them. ``failures`` are for the engine's log. ``append_times``: when each record that was read
    for the first time had been appended, by kind; whoever has a clock tells how old they were.
    ``decided``: what the log says of each decision.
    """

    stored: StoredShard
    records: tuple[OutgoingRecord, ...]
    counts: Mapping[str, int]
    failures: tuple[StepFailure, ...] = field(default=(), compare=False)
    append_times: Mapping[str, tuple[int, ...]] = field(default_factory=dict, compare=False)
    decided: tuple[Decided, ...] = field(default=(), compare=False)
