"""Topics in memory: what clients, bridges and drivers append, with offsets and append times."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import OutgoingRecord, Partitions, RawRecord
from fairlead.wire.topics import TopicNames

NAMES = TopicNames("t.")
PARTITIONS = Partitions(shards=2, assignments=4)
START_MS = 1_781_000_000_000
BOUNDS_END = 1_000
"""Where every queue ends, as the bridge of these worlds tells it."""


@dataclass(slots=True)
class Topics:
    """The input topics as logs: (topic, partition) -> rows; and what was written to the others."""

    now_ms: int = START_MS
    rows: dict[tuple[str, int], list[RawRecord]] = field(default_factory=lambda: defaultdict(list))
    written: dict[tuple[str, int], list[OutgoingRecord]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def append(
        self,
        suffix: str,
        partition: int,
        key: bytes | None,
        value: Mapping[str, Any] | bytes | None,
        *,
        log_time: bool = True,
    ) -> RawRecord:
        """Append a record now; a mapping becomes a record of the protocol's version 1."""
        if isinstance(value, Mapping):
            value = orjson.dumps({"v": 1, **value})
        log = self.rows[NAMES.name(suffix), partition]
        row = RawRecord(NAMES.name(suffix), partition, len(log), self.now_ms, log_time, key, value)
        log.append(row)
        return row

    def append_of(self, suffix: str, group: str, value: Mapping[str, Any] | bytes) -> RawRecord:
        """Append a record of a group to its partition, under the group's key."""
        return self.append(suffix, shard_of(group), group.encode(), value)

    def tick(self, generation: int, **said: int | bool | str) -> None:
        """The driver ticks in every heartbeats partition; its first tick may say more."""
        for shard in range(PARTITIONS.shards):
            record = {"kind": "tick", "generation": generation, **said}
            self.append("heartbeats", shard, None, record)

    def route(self, topic: str, queues: int | None) -> None:
        """A bridge publishes the route of a topic; None: it was deleted."""
        self.append("routes", 0, topic.encode(), None if queues is None else route(topic, queues))

    def rule(self, group: str, rule: str, value: object, *subject: str | int, **said: str) -> None:
        """An operator sets a rule of one group, or of all groups (``*``)."""
        key = orjson.dumps([group, rule, *subject])
        body = {"kind": "rule", "group": group, "rule": rule, "value": value, "by": "test"}
        record = body | said
        for shard in range(PARTITIONS.shards) if group == "*" else [shard_of(group)]:
            self.append("control", shard, key, record)

    def places(self) -> list[tuple[str, int]]:
        """Return topic and partition of everything that has a record."""
        return list(dict.fromkeys((*self.rows, *self.written)))

    def log(self, topic: str, partition: int) -> list[RawRecord]:
        """Return everything in a partition: what others appended, or what the engine wrote."""
        place = (topic, partition)
        log = list(self.rows.get(place, ()))
        for offset, record in enumerate(self.written.get(place, ())):
            stamp = (offset, written_ms(self, record), True)
            log.append(RawRecord(topic, partition, *stamp, record.key, record.value))
        return log

    def rows_of(self, shard: int) -> list[RawRecord]:
        """Return everything that a shard reads, from the beginning."""
        return [
            row
            for (topic, partition), log in sorted(self.rows.items())
            if partition == shard or NAMES.suffix(topic) in {"routes", "offsets"}
            for row in log
        ]


def shard_of(group: str) -> int:
    """Return the shard of a group."""
    return partition_of_group(group, PARTITIONS.shards)


def route(topic: str, queues: int) -> dict[str, Any]:
    """Return a route of one broker."""
    broker = {
        "broker_name": "main",
        "cluster": "main",
        "perm": 6,
        "read_queue_nums": queues,
        "write_queue_nums": queues,
        "addresses": {"0": "127.0.0.1:9092"},
        "leaders": None,
        "zones": None,
    }
    return {
        "kind": "route",
        "topic": topic,
        "identity": f"identity-of-{topic}",
        "order_topic_conf": None,
        "brokers": [broker],
    }


def bounds(group: str, topic: str, queues: int) -> dict[str, Any]:
    """Return what a bridge knows of the queues of a topic."""
    return {
        "kind": "offsets",
        "group": group,
        "topic": topic,
        "identity": f"identity-of-{topic}",
        "queues": [
            {
                "queue": [topic, "main", number],
                "min": 0,
                "max": BOUNDS_END,
                "committed": None,
                "for_time": None,
            }
            for number in range(queues)
        ],
    }


def written_ms(topics: Topics, record: OutgoingRecord) -> int:
    """Return when the engine wrote a record: a decision at once, of what else it wrote the end."""
    body = orjson.loads(record.value or b"null") if record.topic == NAMES.name("decisions") else {}
    return int(body.get("at_ms", topics.now_ms))
