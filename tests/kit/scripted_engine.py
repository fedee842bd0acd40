"""The engine's side by hand: writes assignments and claims, reads what clients write."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.transport.partitioner import partition_of
from kafka import KafkaConsumer, KafkaProducer
from kafka.structs import TopicPartition

__all__ = ["ScriptedEngine"]

WAIT_SECONDS = 30.0


class ScriptedEngine:
    """Decides nothing: a test says what to grant and what to revoke."""

    def __init__(self, bootstrap: str, prefix: str, group: str = "orders") -> None:
        self.bootstrap = bootstrap
        self.prefix = prefix
        self.group = group
        self.generation = 0
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap, max_block_ms=WAIT_SECONDS * 1_000
        )
        self._partitions = {
            name: len(self._producer.partitions_for(f"{prefix}{name}"))
            for name in ("heartbeats", "releases", "handovers", "assignments", "routes")
        }
        self._consumer = KafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
        followed = [
            TopicPartition(f"{prefix}{name}", partition_of(group, self._partitions[name]))
            for name in ("heartbeats", "releases")
        ]
        self._consumer.assign(followed)
        self._consumer.seek_to_beginning(*followed)
        self._held: dict[tuple[str, str], dict[tuple[Queue, Epoch], dict[str, Any]]] = {}
        self.read: list[dict[str, Any]] = []

    def close(self) -> None:
        """Let go of the connections."""
        self._producer.close()
        self._consumer.close(autocommit=False)

    # What the engine writes.
    def claim(self) -> int:
        """Claim a generation, as a driver does when it starts."""
        value = {"v": 1, "kind": "generation", "driver": "d", "started_ms": 1, "version": "0"}
        written = self._producer.send(
            f"{self.prefix}generations",
            orjson.dumps(value),
            key=str(time.time_ns()).encode(),
            partition=0,
        )
        self.generation = written.get(timeout=WAIT_SECONDS).offset + 1
        return self.generation

    def grant(
        self,
        heartbeat: dict[str, Any],
        queue: Queue,
        number: int,
        position: Position = Position(0, 0),  # noqa: B008 - an immutable value
        after: tuple[tuple[dict[str, Any], int], ...] = (),
        *,
        identity: str | None = None,
    ) -> None:
        """Give a queue to the sender of a heartbeat, after (heartbeat, number) of others."""
        add = {
            "queue": queue,
            "epoch": (self.generation, number),
            "position": position,
            "why": "progress",
            "after": [
                {
                    "client_id": other["client_id"],
                    "incarnation": other["incarnation"],
                    "epoch": (self.generation, their_number),
                }
                for other, their_number in after
            ],
            "identity": identity,
        }
        entry = {**add, "state": "gated" if after else "held"}
        self._entries(heartbeat)[queue, Epoch(self.generation, number)] = entry
        self._assign(heartbeat, number, add=[add])

    def revoke(
        self,
        heartbeat: dict[str, Any],
        queue: Queue,
        number: int,
        record: int,
        successor: str | None = None,
    ) -> None:
        """Take a queue away that was granted under a number, in the record of another one."""
        epoch = Epoch(self.generation, number)
        del self._entries(heartbeat)[queue, epoch]
        named = {} if successor is None else {"successor": successor}
        self._assign(heartbeat, record, drop=[{"queue": queue, "epoch": epoch, **named}])

    def notice(self, heartbeat: dict[str, Any], code: str, **fields: Any) -> None:
        """Write a notice to the sender of a heartbeat."""
        value = self._head(heartbeat, "notice") | {"code": code, "message": "a message", **fields}
        self._write(heartbeat, "notice", value)

    def _entries(self, heartbeat: dict[str, Any]) -> dict[tuple[Queue, Epoch], dict[str, Any]]:
        return self._held.setdefault((heartbeat["client_id"], heartbeat["incarnation"]), {})

    def _assign(self, heartbeat: dict[str, Any], number: int, **fields: Any) -> None:
        value = self._head(heartbeat, "assignment") | {
            "epoch": (self.generation, number),
            "part": 0,
            "parts": 1,
            "drop": [],
            "add": [],
            "assigned": list(self._entries(heartbeat).values()),
            "cause": [],
            "at_ms": 1,
            **fields,
        }
        self._write(heartbeat, 0, value)

    def _head(self, heartbeat: dict[str, Any], kind: str) -> dict[str, Any]:
        return {
            "v": 1,
            "kind": kind,
            "group": self.group,
            "client_id": heartbeat["client_id"],
            "incarnation": heartbeat["incarnation"],
            "generation": self.generation,
        }

    def _write(self, heartbeat: dict[str, Any], last: int | str, value: dict[str, Any]) -> None:
        client_id = heartbeat["client_id"]
        key = [self.group, client_id, heartbeat["incarnation"], last]
        self._producer.send(
            f"{self.prefix}assignments",
            orjson.dumps(value, default=tuple),
            key=orjson.dumps(key),
            partition=partition_of(self.group + client_id, self._partitions["assignments"]),
        ).get(timeout=WAIT_SECONDS)

    def write(self, name: str, text: str, key: bytes, value: Mapping[str, Any]) -> None:
        """Write a record to a topic, into the partition of a text."""
        self.write_raw(name, text, key, orjson.dumps(value, default=tuple))

    def write_raw(self, name: str, text: str, key: bytes, value: bytes | None) -> None:
        """Write any bytes to a topic, into the partition of a text."""
        self._producer.send(
            f"{self.prefix}{name}",
            value,
            key=key,
            partition=partition_of(text, self._partitions[name]),
        ).get(timeout=WAIT_SECONDS)

    # What the engine reads.
    def await_record(
        self, kind: str, matches: Callable[[dict[str, Any]], bool] = lambda _: True
    ) -> dict[str, Any]:
        """Return the first record of a kind that matches, from the beginning of all time."""
        deadline = time.monotonic() + WAIT_SECONDS
        looked_at = 0
        while True:
            for record in self.read[looked_at:]:
                if record["kind"] == kind and matches(record):
                    return record
            looked_at = len(self.read)
            assert time.monotonic() < deadline, f"no such {kind} among {looked_at} records"
            for batch in self._consumer.poll(timeout_ms=200).values():
                self.read += [orjson.loads(record.value) for record in batch]

    def heartbeat(self, client_id: str, incarnations: int = 1) -> dict[str, Any]:
        """Return the first heartbeat of a client's n-th incarnation."""
        return self.await_record(
            "heartbeat",
            lambda record: (
                record["client_id"] == client_id
                and record["process"]["incarnations"] == incarnations
            ),
        )

    def applied(self, client_id: str, number: int) -> dict[str, Any]:
        """Return the first heartbeat that says the client has read the record of this number."""
        return self.await_record(
            "heartbeat",
            lambda record: (
                record["client_id"] == client_id
                and record["applied"] is not None
                and record["applied"][1] >= number
            ),
        )

    def release(self, queue: Queue, number: int) -> dict[str, Any]:
        """Return the release of a queue under a number."""
        return self.await_record(
            "release",
            lambda record: record["queue"] == list(queue) and record["epoch"][1] == number,
        )

    def await_end(self, queue: Queue, end: int) -> None:
        """Wait until a progress record says where a queue ends."""

        def tells(record: dict[str, Any]) -> bool:
            return any(
                entry["queue"] == list(queue) and entry.get("end") == end
                for entry in record["queues"]
            )

        self.await_record("progress", tells)
