"""The context of each driver's shards, from its own claim, for a replay."""

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
    """A generation had strategies that this process lacks."""

    def __init__(self, generation: int, missing: tuple[str, ...]) -> None:
        super().__init__(generation, missing)
        self.generation = generation
        self.missing = missing


def settings_of(context: ShardContext) -> DriverSettings:
    """Return the settings that a driver writes into its claim."""
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
        strategies: those of this process.
        otherwise: the settings of a driver whose claim does not say them.
        defaults: the rules of a group without own ones, if they are not in the log.
    """

    claims: Mapping[int, Generation]
    names: TopicNames
    partitions: Partitions
    strategies: Mapping[str, Strategy]
    otherwise: DriverSettings
    defaults: GroupRules = field(default_factory=GroupRules)
    _made: dict[tuple[int, int], ShardContext] = field(default_factory=dict)

    def context(self, shard: int, generation: int) -> ShardContext:
        """Return the context in which the driver of a generation ran a shard.

        Raises:
            UnknownStrategiesError: it had a strategy that this process lacks.
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
        """Tell whether a driver may have written a tick, as the engine judges.

        Args:
            shard: the partition of the tick.
            tick: the tick.
            marker: the highest generation with an earlier tick.
            whole: the partition was read from its first record; else the driver's first tick, with
                its secret, may be missing.
        """
        if not is_believed(tick.generation, max(self.claims, default=0)):
            return False
        if tick.generation <= marker or not whole:
            return True
        claim = self.claims.get(tick.generation)
        return is_shown(tick.secret, () if claim is None else claim.seals, shard)

    def _context(self, shard: int, generation: int) -> ShardContext:
        claim, settings = self.claims.get(generation), self.settings(generation)
        missing = tuple(name for name in settings.strategies if name not in self.strategies)
        if missing:
            raise UnknownStrategiesError(generation, missing)
        rules = EngineRules(
            generation=generation,
            strategies={name: self.strategies[name] for name in settings.strategies},
            defaults=self.defaults,
            auto_create=settings.auto_create,
            evict_after_ms=settings.evict_after_ms,
            chain_cap=settings.chain_cap,
            switch_ms=settings.switch_ms,
            groups_max=settings.groups_max,
            new_groups_per_second=settings.new_groups_per_second,
            heartbeat_bytes_per_second=settings.heartbeat_bytes_per_second,
            state_bytes=settings.state_bytes,
        )
        return ShardContext(
            rules=rules,
            shard=shard,
            partitions=self.partitions,
            topics=self.names,
            tick_ms=settings.tick_ms,
            engine_version="0" if claim is None else claim.version,
            first_run=generation == 1,
            seals=() if claim is None else claim.seals,
        )
