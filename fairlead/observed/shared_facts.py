"""What groups share: routes, rules, clocks, and ends that the data cluster was asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairlead.core.model import MessageQueue, Route
from fairlead.core.records import ALL_GROUPS
from fairlead.core.rules.group_rules import GroupRules
from fairlead.core.topics.routes import readable_queues
from fairlead.engine.clock import TICKS_PER_MOVE, ShardClock
from fairlead.engine.seals import is_believed
from fairlead.observed.append_times import AppendTimes
from fairlead.observed.end_history import EndHistory
from fairlead.observed.engine_liveness import TICKS_SILENT, EngineLiveness, tick_generation
from fairlead.observed.memory_share import MemoryShare
from fairlead.observed.rules import RulesOfGroups
from fairlead.wire.limits import INT64_MAX
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord

__all__ = ["SharedFacts"]

_CLOCKS_APART_MS = 60_000
"""Decisions may carry the time of their writer, whose clock differs from the broker's."""
_GENERATIONS_MAX = 64
"""Keep the generations whose ticks came last: each start of an engine is one; a forger has many."""


@dataclass(slots=True)
class SharedFacts:
    """Facts about the topics that are no single group's own.

    Attributes:
        rules: the rules of all groups.
        tick_ms: the period of the engine's ticks.
        routes: topic -> its route.
        identities: topic -> its identity by its route, and when that was appended.
        polled: the ends that the data cluster was asked for.
        polled_identities: topic -> the identity of those ends, if it is known.
        appended: when the records of each topic and partition were appended.
        clocks: the clock of each partition of heartbeats.
        begun: when the first record read of that partition was appended.
        ticked: when the newest tick of each generation was appended.
        generation: the newest claimed generation; 0: none.
        claims: generation -> when its claim was appended, as far as the topic still has it.
        as_of_ms: the newest append time that was read.
        structure: changes whenever a route does.
        share: how much is kept of the members of all groups.
    """

    rules: RulesOfGroups
    tick_ms: int
    routes: dict[str, Route] = field(default_factory=dict)
    identities: dict[str, tuple[str, int]] = field(default_factory=dict)
    polled: dict[MessageQueue, EndHistory] = field(default_factory=dict)
    polled_identities: dict[str, str] = field(default_factory=dict)
    appended: dict[tuple[str, int], AppendTimes] = field(default_factory=dict)
    clocks: dict[int, ShardClock] = field(default_factory=dict)
    begun: dict[int, int] = field(default_factory=dict)
    ticked: dict[int, dict[int, int]] = field(default_factory=dict)
    generation: int = 0
    claims: dict[int, int] = field(default_factory=dict)
    as_of_ms: int = 0
    structure: int = 0
    share: MemoryShare = field(default_factory=MemoryShare)
    _queues: dict[str, tuple[MessageQueue, ...]] = field(default_factory=dict)
    _routed: dict[str, frozenset[MessageQueue]] = field(default_factory=dict)

    def read(self, row: RawRecord) -> None:
        """Note when a record was appended."""
        self.as_of_ms = max(self.as_of_ms, row.append_ms)
        times = self.appended.get((row.topic, row.partition))
        if times is None:
            times = self.appended[row.topic, row.partition] = AppendTimes()
        times.add(row.offset, row.append_ms)

    def claim(self, generation: int, append_ms: int) -> None:
        """Take note that a driver claimed a generation."""
        self.generation = max(self.generation, generation)
        self.claims[generation] = append_ms

    def is_superseded(self, generation: int, append_ms: int) -> bool:
        """Tell whether a newer engine had begun, perhaps, when this one wrote something."""
        newer = [claimed_ms for each, claimed_ms in self.claims.items() if each > generation]
        return bool(newer) and append_ms >= min(newer) - _CLOCKS_APART_MS

    def trust_routes(self) -> None:
        """From now on, believe nothing about other identities than those of the routes."""
        self.identities = {
            topic: (identity, INT64_MAX) for topic, (identity, _) in self.identities.items()
        }

    def clock(self, partition: int) -> ShardClock:
        """Return the clock of a partition of heartbeats."""
        clock = self.clocks.get(partition)
        if clock is None:
            clock = self.clocks[partition] = ShardClock(TICKS_PER_MOVE * self.tick_ms)
        return clock

    def clock_ms(self, group: str) -> int:
        """Return the time of a group, on the clock of its partition."""
        clock = self.clocks.get(partition_of_group(group, self.rules.shards))
        return 0 if clock is None else clock.clock_ms

    def newest_beat_ms(self, group: str) -> int | None:
        """Return when the newest record of a group's partition of heartbeats was appended."""
        clock = self.clocks.get(partition_of_group(group, self.rules.shards))
        return None if clock is None else clock.append_ms

    def beat(self, row: RawRecord) -> int:
        """Note a record of heartbeats; return the time on the clock of its shard."""
        self.begun.setdefault(row.partition, row.append_ms)
        generation = tick_generation(row)
        if generation is not None and is_believed(generation, self.generation):
            ticks = self.ticked.setdefault(row.partition, {})
            # Only the claims tell which generations exist, and they may be read later.
            ticks.pop(generation, None)
            ticks[generation] = row.append_ms
            if len(ticks) > _GENERATIONS_MAX:
                del ticks[next(iter(ticks))]
        return self.clock(row.partition).advance(row.append_ms)

    def _ticked_ms(self, shard: int) -> int | None:
        ticks = self.ticked.get(shard, {})
        believed = (ms for each, ms in ticks.items() if is_believed(each, self.generation))
        return max(believed, default=None)

    def late_shards(self) -> frozenset[int]:
        """Return the shards in which records came for long enough behind the newest tick."""
        return frozenset(
            shard
            for shard, clock in self.clocks.items()
            if (clock.append_ms or 0) - (self._ticked_ms(shard) or 0) > TICKS_SILENT * self.tick_ms
        )

    def engine(self, group: str, rules: GroupRules, now_ms: int) -> EngineLiveness:
        """Return whether an engine runs for a group; ``now_ms``: until when silence counts."""
        shard = partition_of_group(group, self.rules.shards)
        return self._engine(shard, rules.lease_ms + rules.margin_ms, now_ms)

    def worst_engine(self, now_ms: int) -> EngineLiveness:
        """Return whether an engine runs for all shards: the one that has been silent longest."""
        rules = self.rules.in_force(ALL_GROUPS)
        patience_ms = rules.lease_ms + rules.margin_ms
        shards = range(self.rules.shards)
        lives = [self._engine(shard, patience_ms, now_ms) for shard in shards]
        return max(lives, key=lambda each: (each.silent, -(each.ticked_ms or 0)))

    def _engine(self, shard: int, patience_ms: int, now_ms: int) -> EngineLiveness:
        clock = self.clocks.get(shard)
        return EngineLiveness(
            ticked_ms=self._ticked_ms(shard),
            newest_ms=None if clock is None else clock.append_ms,
            since_ms=self.begun.get(shard),
            now_ms=now_ms,
            tick_ms=self.tick_ms,
            patience_ms=patience_ms,
            claimed=self.generation,
        )

    def queues_of(self, topic: str) -> tuple[MessageQueue, ...]:
        """Return the readable queues of a topic, in their order; none without a route.

        They are made when somebody asks: who reads about one group reads the routes of all topics.
        """
        if topic not in self.routes:
            return ()
        queues = self._queues.get(topic)
        if queues is None:
            queues = self._queues[topic] = readable_queues(self.routes[topic])
        return queues

    def is_routed(self, queue: MessageQueue) -> bool:
        """Tell whether a route has this queue."""
        topic = queue.topic
        if topic not in self.routes:
            return False
        queues = self._routed.get(topic)
        if queues is None:
            queues = self._routed[topic] = frozenset(self.queues_of(topic))
        return queue in queues

    def set_route(self, topic: str, route: Route | None, append_ms: int) -> None:
        """Apply the route of a topic; None: it was deleted."""
        self.structure += 1
        self._queues.pop(topic, None)
        self._routed.pop(topic, None)
        if route is None:
            self.routes.pop(topic, None)
            self.identities.pop(topic, None)
        else:
            self.routes[topic] = route
            self.identities[topic] = route.identity, append_ms

    def take_ends(
        self, at_ms: int, ends: Mapping[MessageQueue, int], identities: Mapping[str, str]
    ) -> None:
        """Apply where queues ended at this time, and the identities of their topics."""
        remade = {
            topic
            for topic, life in identities.items()
            if self.polled_identities.get(topic, life) != life
        }
        self.polled_identities.update(identities)
        for queue, end in ends.items():
            history = self.polled.get(queue)
            if history is None or queue.topic in remade:
                history = self.polled[queue] = EndHistory()
            history.add(at_ms, end)

    def forget_ends_before(self, oldest_ms: int) -> None:
        """Forget old ends of topics without a route."""
        gone = [
            queue
            for queue, ends in self.polled.items()
            if queue.topic not in self.routes
            and ((newest := ends.newest) is None or newest[0] < oldest_ms)
        ]
        for queue in gone:
            del self.polled[queue]
        kept = {*self.routes, *(queue.topic for queue in self.polled)}
        self.polled_identities = {
            topic: life for topic, life in self.polled_identities.items() if topic in kept
        }
