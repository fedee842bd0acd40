"""What each driver ran its shards under, by its own claim: what a replay runs them under again."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairlead.core.allocation import Strategy
from fairlead.core.records import DriverSettings, Generation, Tick
from fairlead.core.rules.group_rules import EngineRules, GroupRules
from fairlead.engine.context import ShardContext
from fairlead.engine.seals import is_believed, is_shown
from fairlead.wire.raw import Partitions
from fairlead.wire.topics import TopicNames

__all__ = ["Drivers", "UnknownStrategiesError", "settings_of"]


class UnknownStrategiesError(LookupError):
    """A generation had strategies that are not known here."""

    def __init__(self, generation: int, missing: tuple[str, ...]) -> None:
        super().__init__(generation, missing)
        self.generation = generation
        self.missing = missing


def settings_of(context: ShardContext) -> DriverSettings:
    """Return what a driver's claim says of what it runs its shards under."""
    rules = context.rules
    return DriverSettings(
        tick_ms=context.tick_ms,
        auto_create=rules.auto_create,
        evict_after_ms=rules.evict_after_ms,
        chain_cap=rules.chain_cap,
        strategies=tuple(sorted(rules.strategies)),
        switch_ms=rules.switch_ms,
        groups_max=rules.groups_max,
        new_groups_per_second=rules.new_groups_per_second,
        heartbeat_bytes_per_second=rules.heartbeat_bytes_per_second,
        state_bytes=rules.state_bytes,
    )


@dataclass(frozen=True, slots=True)
class Drivers:
    """The drivers of a log.

    Attributes:
        claims: by generation.
        names, partitions: of the topics.
        strategies: those known here.
        otherwise: the settings of a driver whose claim does not tell them.
        defaults: the rules of a group that has none, where they came by another way than the log.
    """

    claims: Mapping[int, Generation]
    names: TopicNames
    partitions: Partitions
    strategies: Mapping[str, Strategy]
    otherwise: DriverSettings
    defaults: GroupRules = field(default_factory=GroupRules)
    _made: dict[tuple[int, int], ShardContext] = field(default_factory=dict)

    def context(self, shard: int, generation: int) -> ShardContext:
        """Return what the driver of a generation ran a shard under.

        Raises:
            UnknownStrategiesError: it had a strategy that is not known here.
        """
        made = self._made.get((shard, generation))
        if made is None:
            made = self._made[shard, generation] = self._context(shard, generation)
        return made

    def settings(self, generation: int) -> DriverSettings:
        """Return the settings of a driver."""
        claim = self.claims.get(generation)
        return self.otherwise if claim is None or claim.settings is None else claim.settings

    def wrote(self, shard: int, tick: Tick, marker: int, *, whole: bool) -> bool:
        """Tell whether a driver may have written a tick, as the engine that reads it judges.

        Args:
            shard: the partition in which the tick stands.
            tick: the tick.
            marker: the highest generation of which a tick stands before it.
            whole: the partition was read from its first record; else the first tick of a driver,
                which shows its secret, may stand before what was read.
        """
        if not is_believed(tick.generation, max(self.claims, default=0)):
            return False
        if tick.generation <= marker or not whole:
            return True
        claim = self.claims.get(tick.generation)
        return is_shown(tick.secret, () if claim is None else claim.seals, shard)

    def _context(self, shard: int, generation: int) -> ShardContext:
        claim, told = self.claims.get(generation), self.settings(generation)
        missing = tuple(name for name in told.strategies if name not in self.strategies)
        if missing:
            raise UnknownStrategiesError(generation, missing)
        rules = EngineRules(
            generation=generation,
            strategies={name: self.strategies[name] for name in told.strategies},
            defaults=self.defaults,
            auto_create=told.auto_create,
            evict_after_ms=told.evict_after_ms,
            chain_cap=told.chain_cap,
            switch_ms=told.switch_ms,
            groups_max=told.groups_max,
            new_groups_per_second=told.new_groups_per_second,
            heartbeat_bytes_per_second=told.heartbeat_bytes_per_second,
            state_bytes=told.state_bytes,
        )
        return ShardContext(
            rules=rules,
            shard=shard,
            partitions=self.partitions,
            topics=self.names,
            tick_ms=told.tick_ms,
            engine_version="0" if claim is None else claim.version,
            first_run=generation == 1,
            seals=() if claim is None else claim.seals,
        )
