"""An hour of many groups, made by the engine in memory: what the pages show beside a live system.

One group has queues and members as people see them, one has 1,024 queues, and one has members with
names that attack a page. Two thousand more are copies of the records of two groups at rest.
"""

import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Final

import orjson

from fairlead.core.rules.group_rules import GroupRules
from fairlead.engine.context import ShardContext
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import OutgoingRecord, RawRecord
from tests.kit.client import Client
from tests.kit.memory_topics import NAMES, PARTITIONS, Topics, shard_of, written_ms
from tests.kit.world import World, with_rules

__all__ = ["BIDI", "HOSTILE", "QUEUES", "QUEUES_WIDE", "Scene"]

COPIES: Final = 2_000
QUEUES: Final = 24
QUEUES_WIDE: Final = 1_024
LEASE_MS: Final = 200_000
TICK_MS: Final = 60_000
"""The engine takes a longer pause than two of these for a jump of the clock."""
HOUR_S: Final = 3_600
BIDI: Final = "moved \u202eyadot\u202c for <b onmouseover=boom()>maintenance</b> \u2066\u2028"
"""A reason that an operator may give; the protocol refuses control characters alone."""
HOSTILE: Final = (
    "<script>boom()</script>",
    "<img/src=x/onerror=boom()>",
    "<svg/onload=boom()>",
    "javascript:boom()",
    "'-boom()-'",
    "{{constructor.constructor('boom()')()}}",
    "%3Cscript%3Eboom()%3C/script%3E",
    "__proto__",
    "x" * 255,
)
"""Client ids that the protocol allows."""
EVERY_SHARD: Final = ("routes", "offsets")
Place = tuple[str, int]
_LEASE, _LONG_LEASE = f'"lease_ms":{LEASE_MS}'.encode(), b'"lease_ms":600000'
"""Nobody beats for the copies: they outlive the tests."""
_COPIED: Final = ("svc-0000", "job-0000")


@dataclass(slots=True)
class TimedTopics(Topics):
    """Topics that remember when the engine wrote each record, and what all shards have read.

    Attributes:
        seen: what was written to each partition, with times that stay.
        begin: from which offset shards still read a partition.
    """

    seen: dict[Place, list[RawRecord]] = field(default_factory=lambda: defaultdict(list))
    begin: dict[Place, int] = field(default_factory=lambda: defaultdict(int))

    def see(self) -> None:
        """Give what the engine has written since the last time the time of now."""
        for (topic, partition), records in self.written.items():
            log = self.seen[topic, partition]
            for offset, record in enumerate(records[len(log) :], len(log)):
                stamp = (offset, written_ms(self, record), True)
                log.append(RawRecord(topic, partition, *stamp, record.key, record.value))

    def log(self, topic: str, partition: int) -> list[RawRecord]:
        """Return everything in a partition."""
        return [*self.rows.get((topic, partition), self.seen[topic, partition])]

    def rows_of(self, shard: int) -> list[RawRecord]:
        """Return what a shard has yet to read."""
        return [
            row
            for place, log in sorted(self.rows.items())
            if place[1] == shard or NAMES.suffix(place[0]) in EVERY_SHARD
            for row in log[self.begin[place] :]
        ]


class _Engine(World):
    """A world under the rules that conf/ gives a group."""

    def context(self, shard: int) -> ShardContext:
        """Return the driver's context with them."""
        rules = GroupRules(strategy="STICKY", lease_ms=LEASE_MS)
        return replace(with_rules(super().context(shard), defaults=rules), tick_ms=TICK_MS)


@dataclass
class Scene:
    """The world, its hour, and how it goes on.

    Attributes:
        world: the engine in memory.
        topics: what everybody has written.
    """

    world: World = field(init=False)
    topics: TimedTopics = field(init=False)

    def __post_init__(self) -> None:
        """Play the hour; it ends now."""
        begun_ms = time.time_ns() // 1_000_000 - HOUR_S * 1_000
        queues = {"orders": QUEUES, "wide": QUEUES_WIDE, "hostile": 12, "few": 2}
        self.topics = TimedTopics(now_ms=begun_ms)
        self.world = _Engine(queues=queues, topics=self.topics)
        # An engine writes what conf/ gives all groups: plans read it there.
        self.topics.rule("*", "strategy", {"name": "STICKY"})
        self.topics.tick(1)
        self._begin()
        self._live_an_hour()
        self.catch_up()
        self._copy()

    def catch_up(self, *, tells: bool = True) -> None:
        """Let the time pass that has passed outside."""
        while (left_s := time.time() - self.world.topics.now_ms / 1_000) > 1:
            self.step(min(left_s, 99), tells=tells)

    def join(
        self, client_id: str, group: str = "orders", topic: str = "orders", *, life: int = 1
    ) -> Client:
        """Let a client join, in its first life or a later one."""
        said = {"subscribed": (topic,), "lease_ms": LEASE_MS, "life": life}
        return self.world.join(client_id, group, **said)

    def client(self, client_id: str, group: str = "orders") -> Client:
        """Return a client that lives."""
        (found,) = (
            each
            for each in self.world.clients
            if (each.group, each.client_id, each.gone) == (group, client_id, False)
        )
        return found

    def step(self, seconds: float, *, tells: bool = True) -> None:
        """Let time pass, then a tick, a heartbeat of each client, and batches until all is done.

        ``tells``: each client tells its progress.
        """
        topics = self.topics
        topics.now_ms += int(seconds * 1_000)
        topics.tick(self.world.generation)
        for client in self.world.clients:
            if not client.gone:
                if tells:
                    client.work(7)
                client.beat()
        self.settle()

    def settle(self) -> None:
        """Run batches until everybody has done what the engine wants."""
        topics = self.topics
        while any(len(log) > topics.begin[place] for place, log in topics.rows.items()):
            topics.now_ms += 150
            read = {place: len(log) for place, log in topics.rows.items()}
            self.world.run_all()
            topics.begin.update(read)
            topics.see()

    def _begin(self) -> None:
        for name in "abcd":
            self.join(f"orders-{name}")
        for number in range(32):
            self.join(f"wide-{number:02}", "wide", "wide")
        for client_id in HOSTILE:
            self.join(client_id, "hostile-names", "hostile")
        for name in (*_COPIED, "old"):
            self.join(f"{name}-first", name, "few")
        for name in "bcd":
            self.join(f"job-{name}", "job-0000", "few")
        self.step(2)
        self.step(2)

    def _live_an_hour(self) -> None:
        """Let clients join, leave and die, and operators act, through most of an hour."""
        world = self.world
        self._pass(600)
        self.join("orders-e")
        self.join("wide-32", "wide", "wide")
        self._pass(600)
        self.client("orders-b").leave()
        self.client("old-first", "old").leave()
        self._pass(600)
        self.client("orders-c").gone = True
        self.client("wide-07", "wide").gone = True
        self._pass(600)
        pin = {"queue": ["orders", "main", 0], "client_id": "orders-e"}
        said = {"by": "alice", "because": BIDI}
        world.topics.rule("orders", "pin", pin, "orders", "main", 0, **said)
        world.topics.rule("hostile-names", "pause", value=True, **said)
        self._pass(600)
        self.join("orders-b", life=2)

    def _pass(self, seconds: int) -> None:
        self.step(1)
        self.step(2)
        for number in range(seconds // 100):
            self.step(99, tells=number % 2 == 0)

    def _copy(self) -> None:
        """Add copies of the groups at rest, which no engine reads."""
        topics = self.topics
        for place in topics.places():
            own: dict[str, dict[object, RawRecord]] = defaultdict(dict)
            for row in topics.log(*place):
                group, subject = _copied(row)
                own[group][subject] = row
            for number in range(1, COPIES + 1) if any(own[name] for name in _COPIED) else ():
                name = _COPIED[number % len(_COPIED)]
                for row in own[name].values():
                    self._append(row, name, f"{name[:4]}{number:04}")
        topics.see()
        topics.begin.update({place: len(log) for place, log in topics.rows.items()})

    def _append(self, row: RawRecord, name: str, copy: str) -> None:
        topics, (old, new) = self.world.topics, (name.encode(), copy.encode())
        key = row.key and row.key.replace(old, new)
        value = row.value and row.value.replace(old, new).replace(_LEASE, _LONG_LEASE)
        suffix = NAMES.suffix(row.topic) or ""
        if (row.topic, row.partition) in topics.rows:
            # Appended now: a time of the past would turn the clock of the partition back.
            topics.append(suffix, shard_of(copy), key, value)
            return
        counts = {"assignments": PARTITIONS.assignments, "decisions": 1}
        partition = partition_of_group(copy, counts[suffix])
        record = OutgoingRecord(row.topic, partition, key, value)
        topics.written[row.topic, partition].append(record)


def _copied(row: RawRecord) -> tuple[str, object]:
    """Return the group of a record, and what a later record of the same replaces; "": none."""
    if NAMES.suffix(row.topic) not in ("heartbeats", "decisions", "assignments") or not row.value:
        return "", None
    body = orjson.loads(row.value)
    group = str(body.get("group", ""))
    if body["kind"] == "heartbeat":
        return group, body["client_id"]
    return group, row.offset if body["kind"] in ("decision", "assignment") else "others"
