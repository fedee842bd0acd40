"""Clients by the hundred, from one process: they heartbeat, echo their records, and one joins.

Run as a program it prints one JSON object with the latency of each join: from the moment before the
first heartbeat is handed to the producer until the client's first assignment record is in hand.
"""

import argparse
import json
import random
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.publishing.digest import digest
from fairlead.wire.partition import partition_of_group
from fairlead.wire.topics import TopicNames

HEARTBEAT_SECONDS: Final = 3.0
QUEUES: Final = 8
TOPIC: Final = "work"
_POLL_MS: Final = 20
"""A poll ends as soon as there is something: what waits in it takes no processor time."""
_STAY_SECONDS: Final = 1.0
_LOST_SECONDS: Final = 30.0
_UP_SECONDS_MAX: Final = 180.0


def group_names(groups: int) -> list[str]:
    """Return the names of the groups, the same in every process."""
    return [f"group-{number}" for number in range(groups)]


@dataclass(slots=True)
class LoadClient:
    """One client: it holds what its newest record says."""

    group: str
    client_id: str
    incarnation: str = field(default_factory=lambda: str(uuid.uuid4()))
    sequence: int = 0
    held: dict[tuple[str, str, int], tuple[list[int], str]] = field(default_factory=dict)

    def heartbeat(self, generation: int) -> dict[str, Any]:
        """Return the next heartbeat."""
        self.sequence += 1
        entries = [
            (MessageQueue(*queue), Epoch(*epoch), state)
            for queue, (epoch, state) in self.held.items()
        ]
        subscription = {"topic": TOPIC, "expression_type": "tag", "expression": "*"}
        return self._record("heartbeat") | {
            "process": {"start_ms": 1_781_000_000_000, "uuid": self.incarnation, "incarnations": 1},
            "sequence": self.sequence,
            "generation": generation,
            "lease_ms": 10_000,
            "consume_type": "push",
            "message_model": "clustering",
            "consume_from": "first_offset",
            "consume_timestamp_ms": None,
            "ordered": False,
            "language": "python",
            "version": "0.1.0",
            "address": "",
            "zone": None,
            "capacity": 1,
            "subscriptions": [{**subscription, "tags": [], "sub_version": 1_781_000_000_000}],
            "applied": None,
            "digest": f"{digest(entries):016x}",
        }

    def claims(self, generation: int) -> dict[str, Any]:
        """Return the acknowledgement of a generation, of a client that holds nothing."""
        return self._record("claims") | {
            "generation": generation, "part": 0, "parts": 1, "queues": [],
        }  # fmt: skip

    def leave(self) -> dict[str, Any]:
        """Return the farewell."""
        self.sequence += 1
        return self._record("leave") | {"sequence": self.sequence}

    def obey(self, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Take over a record; yield a release for each queue that it drops."""
        self.held = {
            tuple(entry["queue"]): (entry["epoch"], entry["state"]) for entry in record["assigned"]
        }
        for drop in record["drop"]:
            self.held.pop(tuple(drop["queue"]), None)
            yield self.release(drop["queue"], drop["epoch"])

    def release(self, queue: list[Any], epoch: list[int]) -> dict[str, Any]:
        """Return the release of a queue that its owner has not worked on."""
        return self._record("release") | {"queue": queue, "epoch": epoch, "position": [0, 0]}

    def _record(self, kind: str) -> dict[str, Any]:
        return {
            "v": 1, "kind": kind, "group": self.group, "client_id": self.client_id,
            "incarnation": self.incarnation,
        }  # fmt: skip


class FleetLoad:
    """All clients, the bridge that answers for them, and the probe."""

    def __init__(self, bootstrap: str, prefix: str, shards: int) -> None:
        self._names = TopicNames(prefix)
        self._shards = shards
        self._producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
        self._consumer = KafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
        self._clients: dict[str, LoadClient] = {}
        self.answered_at: dict[str, float] = {}
        topics = [self._names.name(suffix) for suffix in ("assignments", "requests")]
        self._consumer.assign(
            [
                TopicPartition(topic, number)
                for topic in topics
                for number in sorted(self._consumer.partitions_for_topic(topic))
            ]
        )
        self._consumer.seek_to_beginning()

    def join(self, client: LoadClient) -> None:
        """Let a client join the fleet."""
        self._clients[client.incarnation] = client
        self._send("heartbeats", client.group, client.claims(1))
        self._send("heartbeats", client.group, client.heartbeat(1))

    def leave(self, client: LoadClient) -> None:
        """Let a client release everything and go."""
        del self._clients[client.incarnation]
        for queue, (epoch, _) in client.held.items():
            self._send("releases", client.group, client.release([*queue], epoch))
        self._send("heartbeats", client.group, client.leave())

    def beat(self, client: LoadClient) -> None:
        """Let a client say that it is alive."""
        self._send("heartbeats", client.group, client.heartbeat(1))

    def read(self, milliseconds: int) -> None:
        """Read what the engine wrote, and answer it."""
        for partition, records in self._consumer.poll(timeout_ms=milliseconds).items():
            for record in records:
                if record.value is None:
                    continue
                body = orjson.loads(record.value)
                if partition.topic == self._names.name("requests"):
                    self._answer(body)
                elif body["kind"] == "assignment":
                    self._obey(body)

    def _obey(self, body: dict[str, Any]) -> None:
        client = self._clients.get(body["incarnation"])
        if client is not None:
            self.answered_at.setdefault(client.incarnation, time.monotonic())
            for release in client.obey(body):
                self._send("releases", client.group, release)

    def _answer(self, asked: dict[str, Any]) -> None:
        if asked["what"] == "route":
            self._append("routes", TOPIC.encode(), 0, _route())
        else:
            key = orjson.dumps([TOPIC, asked["group"]])
            self._append("offsets", key, 0, _offsets(asked["group"]))

    def _send(self, suffix: str, group: str, body: dict[str, Any]) -> None:
        self._append(suffix, group.encode(), partition_of_group(group, self._shards), body)

    def _append(self, suffix: str, key: bytes, partition: int, body: dict[str, Any]) -> None:
        topic = self._names.name(suffix)
        self._producer.send(topic, orjson.dumps(body), key=key, partition=partition)


def _route() -> dict[str, Any]:
    broker = {
        "broker_name": "main", "cluster": "main", "perm": 6, "read_queue_nums": QUEUES,
        "write_queue_nums": QUEUES, "addresses": {}, "leaders": None, "zones": None,
    }  # fmt: skip
    identity = {"topic": TOPIC, "identity": "one", "order_topic_conf": None}
    return {"v": 1, "kind": "route", **identity, "brokers": [broker]}


def _offsets(group: str) -> dict[str, Any]:
    bounds = {"min": 0, "max": 0, "committed": None, "for_time": None}
    queues = [{"queue": [TOPIC, "main", number], **bounds} for number in range(QUEUES)]
    about = {"group": group, "topic": TOPIC, "identity": "one"}
    return {"v": 1, "kind": "offsets", **about, "queues": queues}


def measure(load: FleetLoad, groups: int, clients: int, joins: int, seed: int) -> list[float]:
    """Bring the fleet up, wait until everybody has an assignment, then time the joins."""
    chance = random.Random(seed)
    names = group_names(groups)
    fleet = [LoadClient(name, f"client-{number}") for name in names for number in range(clients)]
    return time_joins(load, gather(load, fleet), names, joins, chance)


def gather(load: FleetLoad, fleet: list[LoadClient]) -> "Beats":
    """Bring clients up, and return what keeps them alive."""
    for client in fleet:
        load.join(client)
    beats = Beats(load, fleet)
    begun = time.monotonic()
    while any(client.incarnation not in load.answered_at for client in fleet):
        beats.wait(0.05)
        if time.monotonic() - begun > _UP_SECONDS_MAX:
            raise TimeoutError("the fleet did not come up")
    beats.wait(15.0)
    return beats


def time_joins(
    load: FleetLoad, beats: "Beats", names: list[str], joins: int, chance: random.Random
) -> list[float]:
    """Let a client join one of the groups again and again; return how long each waited."""
    latencies = []
    for number in range(joins):
        probe = LoadClient(chance.choice(names), f"probe-{number}")
        begun = time.monotonic()
        load.join(probe)
        while (
            probe.incarnation not in load.answered_at and time.monotonic() - begun < _LOST_SECONDS
        ):
            beats.wait(0.0)
        latencies.append(load.answered_at.get(probe.incarnation, begun + _LOST_SECONDS) - begun)
        beats.wait(_STAY_SECONDS)
        load.leave(probe)
        beats.wait(chance.uniform(0.2, 0.7))
    return latencies


class Beats:
    """Keeps the heartbeats of a fleet going, evenly spread, while something else is waited for."""

    def __init__(self, load: FleetLoad, fleet: list[LoadClient]) -> None:
        self._load = load
        self._fleet = fleet
        self._next = 0
        self._begun = time.monotonic()

    def wait(self, seconds: float) -> None:
        """Read and beat for so long; at least once."""
        until = time.monotonic() + seconds
        while True:
            self._load.read(_POLL_MS)
            now = time.monotonic()
            due = int((now - self._begun) / HEARTBEAT_SECONDS * len(self._fleet))
            # After a pause nobody beats twice.
            self._next = max(self._next, due - len(self._fleet))
            while self._next < due:
                self._load.beat(self._fleet[self._next % len(self._fleet)])
                self._next += 1
            if now >= until:
                return


def main() -> None:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser()
    for name in ("--bootstrap", "--prefix"):
        parser.add_argument(name, required=True)
    for name in ("--shards", "--groups", "--clients", "--joins", "--seed"):
        parser.add_argument(name, required=True, type=int)
    given = parser.parse_args()
    load = FleetLoad(given.bootstrap, given.prefix, given.shards)
    latencies = measure(load, given.groups, given.clients, given.joins, given.seed)
    print(json.dumps({"join_seconds": latencies}))  # noqa: T201 - its caller reads it


if __name__ == "__main__":
    main()
