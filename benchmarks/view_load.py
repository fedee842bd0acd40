"""The records of many groups at rest, as clients, bridges and the engine write them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid5

import orjson

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.publishing.digest import digest
from fairlead.wire.partition import partition_of_client, partition_of_group
from fairlead.wire.raw import Partitions, RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["NAMES", "PARTITIONS", "START_MS", "GroupsLoad"]

NAMES: Final = TopicNames()
PARTITIONS: Final = Partitions(shards=16, assignments=64)
START_MS: Final = 1_781_000_000_000
_NAMESPACE: Final = UUID("6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11")
_BEAT_MS: Final = 3_000


@dataclass(slots=True)
class GroupsLoad:
    """So many groups, each with a topic of its own; rows of a topic come in order."""

    groups: int
    members: int
    queues: int
    offset: int = 0

    def names(self) -> list[str]:
        """Return the names of the groups."""
        return [f"billing.invoices-{number:04d}" for number in range(self.groups)]

    def routes(self) -> Iterator[RawRecord]:
        """Yield the route of each topic."""
        for group in self.names():
            broker = {
                "broker_name": "main",
                "cluster": "main",
                "perm": 6,
                "read_queue_nums": self.queues,
                "write_queue_nums": self.queues,
                "addresses": {"0": "127.0.0.1:9092"},
                "leaders": None,
                "zones": None,
            }
            body = {
                "kind": "route",
                "topic": f"{group}.events",
                "identity": "one",
                "order_topic_conf": None,
                "brokers": [broker],
            }
            yield self._row("routes", 0, f"{group}.events".encode(), body)

    def decisions(self) -> Iterator[RawRecord]:
        """Yield the decision of each group that granted all its queues."""
        for group in self.names():
            body = {
                "kind": "decision",
                "group": group,
                "epoch": [3, 41],
                "previous_epoch": [3, 40],
                "part": 0,
                "parts": 1,
                "triggers": ["client_joined"],
                "cause": [{"kind": "client_joined", "client_id": self._client_id(0)}],
                "strategy": "AVG",
                "members": [self._client_id(number) for number in range(self.members)],
                "moves": [
                    {
                        "queue": [*queue],
                        "stage": "granted",
                        "client_id": self._client_id(number),
                        "epoch": [3, 41],
                        "position": [0, 9120],
                        "why": "committed",
                    }
                    for number in range(self.members)
                    for queue in self._held(group, number)
                ],
                "state": {
                    "phase": "stable",
                    "queues": self.queues,
                    "unassigned": 0,
                    "in_handover": 0,
                    "pending": 0,
                },
                "failures": [],
                "alarms": [],
                "clock_ms": 86_123,
                "at_ms": START_MS,
                "cut": {"generation": 3, "shard": 0, "step": 17, "begin": {}, "positions": {}},
            }
            yield self._row("decisions", 0, group.encode(), body)

    def assignments(self) -> Iterator[RawRecord]:
        """Yield the set of each member."""
        for group in self.names():
            for number in range(self.members):
                client_id = self._client_id(number)
                held = self._held(group, number)
                body = {
                    "kind": "assignment",
                    **self._sender(group, number),
                    "generation": 3,
                    "epoch": [3, 41],
                    "part": 0,
                    "parts": 1,
                    "drop": [],
                    "add": [],
                    "assigned": [
                        {"queue": [*queue], "epoch": [3, 41], "state": "held"} for queue in held
                    ],
                    "cause": [{"kind": "client_joined"}],
                    "at_ms": START_MS,
                }
                key = orjson.dumps([group, client_id, body["incarnation"], 0])
                partition = partition_of_client(group, client_id, PARTITIONS.assignments)
                yield self._row("assignments", partition, key, body)

    def heartbeats(self, at_ms: int) -> Iterator[RawRecord]:
        """Yield one heartbeat of each member, in the three seconds from this time on."""
        total = self.groups * self.members
        for index, (group, number) in enumerate(self._everybody()):
            held = ((queue, Epoch(3, 41), "held") for queue in self._held(group, number))
            body = {
                "kind": "heartbeat",
                **self._sender(group, number),
                "process": {
                    "start_ms": START_MS,
                    "uuid": str(uuid5(_NAMESPACE, str(number))),
                    "incarnations": 1,
                },
                "sequence": at_ms // _BEAT_MS,
                "generation": 3,
                "lease_ms": 10_000,
                "consume_type": "push",
                "message_model": "clustering",
                "consume_from": "last_offset",
                "consume_timestamp_ms": None,
                "ordered": False,
                "language": "python",
                "version": "0.1.0",
                "address": "10.0.0.7",
                "zone": "zone-a",
                "capacity": 1,
                "subscriptions": [
                    {
                        "topic": f"{group}.events",
                        "expression_type": "tag",
                        "expression": "*",
                        "tags": [],
                        "sub_version": START_MS,
                    }
                ],
                "applied": [3, 41],
                "digest": f"{digest(held):016x}",
            }
            stamp_ms = at_ms + index * _BEAT_MS // total
            yield self._of_group("heartbeats", group, body, stamp_ms)

    def progress(self, at_ms: int, position: int) -> Iterator[RawRecord]:
        """Yield the progress of each member on all its queues, 80 messages behind their end."""
        for group, number in self._everybody():
            positions = [
                {
                    "queue": [*queue],
                    "epoch": [3, 41],
                    "position": [0, position],
                    "end": position + 80,
                    "identity": "one",
                }
                for queue in self._held(group, number)
            ]
            body = {"kind": "progress", **self._sender(group, number), "queues": positions}
            yield self._of_group("heartbeats", group, body, at_ms)

    def _everybody(self) -> Iterator[tuple[str, int]]:
        for group in self.names():
            for number in range(self.members):
                yield group, number

    def _held(self, group: str, number: int) -> list[MessageQueue]:
        ids = range(number, self.queues, self.members)
        return [MessageQueue(f"{group}.events", "main", queue_id) for queue_id in ids]

    def _client_id(self, number: int) -> str:
        return f"10.0.0.{number}@4121#1"

    def _sender(self, group: str, number: int) -> dict[str, Any]:
        client_id = self._client_id(number)
        incarnation = str(uuid5(_NAMESPACE, f"{group}/{client_id}"))
        return {"group": group, "client_id": client_id, "incarnation": incarnation}

    def _of_group(self, suffix: str, group: str, body: dict[str, Any], at_ms: int) -> RawRecord:
        partition = partition_of_group(group, PARTITIONS.shards)
        return self._row(suffix, partition, group.encode(), body, at_ms)

    def _row(
        self, suffix: str, partition: int, key: bytes, body: dict[str, Any], at_ms: int = START_MS
    ) -> RawRecord:
        self.offset += 1
        value = orjson.dumps({"v": 1, **body})
        row = (NAMES.name(suffix), partition, self.offset, at_ms)
        return RawRecord(*row, append_time_is_log=True, key=key, value=value)
