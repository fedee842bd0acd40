"""A whole engine in memory: topics, clients, a bridge, and a driver that can be killed.

Nothing in here decides anything: clients obey records, the bridge answers requests, and the shard
machine is the real one.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

import orjson

from fairlead.codec.group import decode_group
from fairlead.codec.shard import open_shard
from fairlead.codec.stored import StoredShard
from fairlead.core.allocation import Strategy
from fairlead.core.rules.group_rules import EngineRules, GroupRules
from fairlead.core.state import GroupState
from fairlead.engine.context import ShardContext, ShardResult, StepFailure
from fairlead.engine.shard import run_shard
from strategies.registry import STRATEGIES
from tests.kit.client import Client
from tests.kit.memory_topics import NAMES, PARTITIONS, Topics, bounds, shard_of

_Joined = TypeVar("_Joined", bound=Client)


def context_of(
    shard: int,
    generation: int = 1,
    *,
    strategies: Mapping[str, Strategy] = STRATEGIES,
    defaults: GroupRules | None = None,
    first_run: bool = False,
    begin: Mapping[str, Mapping[int, int]] | None = None,
) -> ShardContext:
    """Return what a shard is run under."""
    rules = EngineRules(generation, strategies, defaults=defaults or GroupRules(strategy="AVG"))
    return ShardContext(
        rules,
        shard,
        PARTITIONS,
        NAMES,
        engine_version="0.0.test",
        first_run=first_run,
        begin=begin or {},
    )


@dataclass(slots=True)
class World:
    """Topics, clients and one driver over all shards."""

    topics: Topics = field(default_factory=Topics)
    generation: int = 1
    stored: dict[int, StoredShard | None] = field(default_factory=dict)
    read: dict[tuple[int, str, int], int] = field(default_factory=dict)
    planned: dict[int, dict[tuple[int, str, int], int]] = field(default_factory=dict)
    clients: list[Client] = field(default_factory=list)
    queues: dict[str, int] = field(default_factory=lambda: {"orders": 4, "payments": 3})
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[StepFailure] = field(default_factory=list)
    strategies: Mapping[str, Strategy] = field(default_factory=lambda: STRATEGIES)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    fresh: list[bytes] = field(default_factory=list)
    begin: dict[str, dict[int, int]] = field(default_factory=dict)

    def join(self, client_id: str, group: str = "orders", **fields: Any) -> Client:
        """A client starts and heartbeats."""
        client = Client(self.topics, group, client_id, generation=self.generation, **fields)
        return self.add(client)

    def add(self, client: _Joined) -> _Joined:
        """Let a client heartbeat and acknowledge the driver of now."""
        client.beat()
        client.claim(self.generation)
        self.clients.append(client)
        return client

    def context(self, shard: int) -> ShardContext:
        """Return what the driver of now runs a shard under."""
        return context_of(shard, self.generation, strategies=self.strategies, begin=self.begin)

    def run(
        self, shard: int, *, killed_after: int | None = None, chance: Random | None = None
    ) -> ShardResult:
        """Run one batch of a shard over what it has not read.

        ``killed_after``: the driver dies after so many records were written, and the next batch of
        the shard reads the same rows again. ``chance`` shuffles the rows and may leave the newest
        of each partition for later.
        """
        ends = self.planned.pop(shard, None) or self._plan(shard, chance)
        rows = [
            row
            for row in self.topics.rows_of(shard)
            if self.read.get((shard, row.topic, row.partition), 0)
            <= row.offset
            < ends.get((shard, row.topic, row.partition), 0)
        ]
        if chance is not None:
            chance.shuffle(rows)
        result = run_shard(self.stored.get(shard), rows, self.context(shard))
        if killed_after is None:
            self.stored[shard] = result.stored
            self.read.update(ends)
        else:
            self.planned[shard] = ends
        self._publish(result, killed_after)
        return result

    def _plan(self, shard: int, chance: Random | None) -> dict[tuple[int, str, int], int]:
        ends: dict[tuple[int, str, int], int] = {}
        for row in self.topics.rows_of(shard):
            place = (shard, row.topic, row.partition)
            last = len(self.topics.rows[row.topic, row.partition])
            begin = self.read.get(place, 0)
            if place not in ends:
                ends[place] = last if chance is None else chance.randint(begin, last)
        return ends

    def hold_back(self, suffix: str, shard: int) -> None:
        """Let the next batch of a shard read all there is, but nothing new of one of its topics."""
        place = (shard, NAMES.name(suffix), shard)
        self.planned[shard] = {**self._plan(shard, None), place: self.read.get(place, 0)}

    def _publish(self, result: ShardResult, at_most: int | None) -> None:
        self.counts.update(result.counts)
        self.failures.extend(result.failures)
        for record in result.records[:at_most]:
            self.topics.written[record.topic, record.partition].append(record)
            if record.value is not None:
                self.fresh.append(record.value)

    def run_all(self, chance: Random | None = None) -> None:
        """Run every shard once, and let clients and the bridge read what was written."""
        for shard in range(PARTITIONS.shards):
            self.run(shard, chance=chance)
        self.deliver()

    def deliver(self) -> None:
        """Clients obey their assignments; the bridge answers requests."""
        fresh, self.fresh = self.fresh, []
        for value in fresh:
            record = orjson.loads(value)
            if record["kind"] == "decision":
                self.decisions.append(record)
            elif record["kind"] == "request":
                self._answer(record)
            elif record["kind"] == "assignment":
                for client in self.clients:
                    client.read(record)

    def _answer(self, request: dict[str, Any]) -> None:
        topic, group = request["topic"], request["group"]
        if topic not in self.queues or request["what"] == "members":
            return
        if request["what"] == "route":
            self.topics.route(topic, self.queues[topic])
        else:
            key = orjson.dumps([topic, group])
            self.topics.append("offsets", 0, key, bounds(group, topic, self.queues[topic]))

    def start_driver(self) -> None:
        """Another driver starts; clients acknowledge its generation at once."""
        self.generation += 1
        self.topics.tick(self.generation)
        for client in self.clients:
            if not client.gone:
                client.claim(self.generation)

    def lose_state(self, window_ms: int = 603_000) -> None:
        """The checkpoint is lost: another driver starts without, and reads a window of the log."""
        since_ms = self.topics.now_ms - window_ms
        for suffix in ("heartbeats", "releases"):
            for shard in range(PARTITIONS.shards):
                log = self.topics.rows[NAMES.name(suffix), shard]
                older = sum(row.append_ms < since_ms for row in log)
                self.begin.setdefault(NAMES.name(suffix), {})[shard] = older
        self.stored, self.planned = {}, {}
        self.read = {
            (shard, topic, shard): offset
            for topic, partitions in self.begin.items()
            for shard, offset in partitions.items()
        }
        self.start_driver()

    def pass_seconds(self, seconds: int, chance: Random | None = None) -> None:
        """Let time pass: ticks each second, heartbeats and progress every three, batches."""
        for _ in range(seconds):
            self.topics.now_ms += 1_000
            self.topics.tick(self.generation)
            for index, client in enumerate(self.clients):
                if not client.gone and (self.topics.now_ms // 1_000 + index) % 3 == 0:
                    client.work(7)
                    client.beat()
            for _ in range(3):
                self.topics.now_ms += 30
                self.run_all(chance)

    def owners(self, group: str) -> dict[int, str]:
        """Return queue id -> client id of everything that clients of a group work on."""
        owners: dict[int, str] = {}
        for client in self.clients:
            if client.group != group or client.gone:
                continue
            for queue, (_, state) in client.held.items():
                if state == "held":
                    assert queue[2] not in owners, "two clients work on one queue"
                    owners[queue[2]] = client.client_id
        return owners

    def kinds(self, suffix: str) -> list[dict[str, Any]]:
        """Return the records with a value that were written to a topic."""
        return [
            orjson.loads(record.value)
            for (topic, _), records in sorted(self.topics.written.items())
            if topic == NAMES.name(suffix)
            for record in records
            if record.value is not None
        ]


def with_rules(context: ShardContext, **changes: Any) -> ShardContext:
    """Return the context with some of the driver's rules changed."""
    return replace(context, rules=replace(context.rules, **changes))


def settle_two(world: World) -> None:
    """Let two members join the group of a world that has just begun, and wait until both work."""
    world.topics.tick(1)
    world.join("a")
    world.join("b")
    world.pass_seconds(4)


def state_of(world: World, group: str = "orders") -> GroupState:
    """Return what a world's engine remembers of a group."""
    stored = world.stored[shard_of(group)]
    assert stored is not None
    slot = open_shard(stored).slots[group]
    return decode_group(slot.body, slot.liveness, group)


class Forgetful(World):
    """A world whose driver forgets a group without members after five seconds."""

    def context(self, shard: int) -> ShardContext:
        """Return the driver's context with the short memory."""
        return with_rules(super().context(shard), evict_after_ms=5_000)


def world_of(*client_ids: str, queues: Mapping[str, int] | int | None = None) -> World:
    """Return a group of some clients at rest; a number of queues is that of orders alone."""
    if isinstance(queues, int):
        queues = {"orders": queues}
    world = World(queues=dict(queues or {"orders": 12, "payments": 5}))
    for client_id in client_ids:
        world.join(client_id, subscribed=tuple(world.queues))
    world.pass_seconds(8)
    return world
