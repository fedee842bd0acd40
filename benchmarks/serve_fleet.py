"""`fairlead serve` with thousands of groups: a real broker, a real process, the commands that ask.

Writes what an engine and its clients would have written for so many groups into Fairlead's topics,
starts `fairlead serve` on them, and measures how long it takes to be ready, how long lists and
`/metrics` take and how big they are, and what following costs while every member heartbeats.

    python -m benchmarks.serve_fleet [--groups 2000] [--members 10] [--queues 64] [--check]
"""

import argparse
import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import orjson
from kafka import KafkaProducer

from fairlead.broker import EmbeddedKafka
from fairlead.broker.ports import free_ports
from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.publishing.digest import digest
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings
from fairlead.wire.partition import partition_of_client, partition_of_group
from fairlead.wire.topics import TopicNames

NAMES: Final = TopicNames("fairlead.")
EPOCH: Final = [1, 1]
LIST_SECONDS_MAX: Final = 1.0
METRICS_SECONDS_MAX: Final = 1.0
METRICS_BYTES_MAX: Final = 10_000_000
_HEARTBEAT_MS: Final = 3_000
_WAIT_S: Final = 300.0


class Fleet:
    """Groups, each with a topic of its own, whose queues its members share evenly."""

    def __init__(self, groups: int, members: int, queues: int, shards: int, parts: int) -> None:
        self.names = [f"group-{number:05}" for number in range(groups)]
        self.members = members
        self.queues = queues
        self._shards, self._parts = shards, parts
        self._incarnations: dict[str, str] = {}

    def records(self) -> Iterator[tuple[str, int, bytes, bytes]]:
        """Yield topic, partition, key and value of everything but heartbeats."""
        for group in self.names:
            route = self._route(group)
            yield NAMES.name("routes"), 0, route["topic"].encode(), orjson.dumps(route)
            yield NAMES.name("decisions"), 0, group.encode(), orjson.dumps(self._decision(group))
            for client in self._clients(group):
                key = orjson.dumps([group, client, self._incarnation(client), 0])
                partition = partition_of_client(group, client, self._parts)
                value = orjson.dumps(self._assignment(group, client))
                yield NAMES.name("assignments"), partition, key, value

    def heartbeats(self, sequence: int) -> Iterator[tuple[str, int, bytes, bytes]]:
        """Yield one heartbeat of each member, and progress of its queues."""
        for group in self.names:
            partition = partition_of_group(group, self._shards)
            for client in self._clients(group):
                for body in (
                    self._heartbeat(group, client, sequence),
                    self._progress(group, client),
                ):
                    yield NAMES.name("heartbeats"), partition, group.encode(), orjson.dumps(body)

    def _clients(self, group: str) -> list[str]:
        return [f"10.0.0.{number}@{group}#1" for number in range(self.members)]

    def _incarnation(self, client: str) -> str:
        return self._incarnations.setdefault(client, str(uuid.uuid4()))

    def _owned(self, group: str, client: str) -> list[list[Any]]:
        number = self._clients(group).index(client)
        return [[f"of-{group}", "main", each] for each in range(number, self.queues, self.members)]

    def _route(self, group: str) -> dict[str, Any]:
        broker = {
            "broker_name": "main", "cluster": "main", "perm": 6, "read_queue_nums": self.queues,
            "write_queue_nums": self.queues, "addresses": {"0": "127.0.0.1:9092"}, "leaders": None,
            "zones": None,
        }  # fmt: skip
        return {
            "v": 1, "kind": "route", "topic": f"of-{group}", "identity": f"life-of-{group}",
            "order_topic_conf": None, "brokers": [broker],
        }  # fmt: skip

    def _decision(self, group: str) -> dict[str, Any]:
        moves = [
            {"queue": queue, "stage": "granted", "client_id": client, "epoch": EPOCH,
             "position": [0, 0], "why": "first_offset"}
            for client in self._clients(group)
            for queue in self._owned(group, client)
        ]  # fmt: skip
        places = {NAMES.name("heartbeats"): {"0": 1}}
        return {
            "v": 1, "kind": "decision", "group": group, "epoch": EPOCH, "previous_epoch": [1, 0],
            "part": 0, "parts": 1, "triggers": ["client_joined"], "cause": [], "strategy": "AVG",
            "members": self._clients(group), "moves": moves, "failures": [], "alarms": [],
            "state": {"phase": "stable", "queues": self.queues, "unassigned": 0, "in_handover": 0,
                      "pending": 0},
            "clock_ms": 1, "at_ms": 1_781_000_000_000,
            "cut": {"generation": 1, "shard": 0, "step": 1, "begin": places, "positions": places},
        }  # fmt: skip

    def _assignment(self, group: str, client: str) -> dict[str, Any]:
        held = [
            {"queue": queue, "epoch": EPOCH, "state": "held"}
            for queue in self._owned(group, client)
        ]
        return self._of(group, client, "assignment") | {
            "generation": 1, "epoch": EPOCH, "part": 0, "parts": 1, "drop": [], "add": [],
            "assigned": held, "cause": [], "at_ms": 1_781_000_000_000,
        }  # fmt: skip

    def _heartbeat(self, group: str, client: str, sequence: int) -> dict[str, Any]:
        held = [
            (MessageQueue(*queue), Epoch(*EPOCH), "held") for queue in self._owned(group, client)
        ]
        subscription = {
            "topic": f"of-{group}", "expression_type": "tag", "expression": "*", "tags": [],
            "sub_version": 1,
        }  # fmt: skip
        uuid_of = self._incarnation(client)
        return self._of(group, client, "heartbeat") | {
            "process": {"start_ms": 1_781_000_000_000, "uuid": uuid_of, "incarnations": 1},
            "sequence": sequence, "generation": 1, "lease_ms": 10_000, "consume_type": "push",
            "message_model": "clustering", "consume_from": "last_offset",
            "consume_timestamp_ms": None, "ordered": False, "language": "python",
            "version": "0.1.0", "address": "10.0.0.1", "zone": None, "capacity": 1,
            "subscriptions": [subscription], "applied": EPOCH, "digest": f"{digest(held):016x}",
        }  # fmt: skip

    def _progress(self, group: str, client: str) -> dict[str, Any]:
        positions = [
            {"queue": queue, "epoch": EPOCH, "position": [0, 9_000], "end": 9_200,
             "identity": f"life-of-{group}"}
            for queue in self._owned(group, client)
        ]  # fmt: skip
        return self._of(group, client, "progress") | {"queues": positions}

    def _of(self, group: str, client: str, kind: str) -> dict[str, Any]:
        return {
            "v": 1, "kind": kind, "group": group, "client_id": client,
            "incarnation": self._incarnation(client),
        }  # fmt: skip


class Serve:
    """The process that is measured."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        self.port = free_ports(1)[0]
        self.log = folder / "serve.log"
        self.environment = {
            **os.environ,
            "FAIRLEAD__KAFKA__BOOTSTRAP": bootstrap,
            "FAIRLEAD__SERVE__URL": f"http://127.0.0.1:{self.port}",
        }
        command = [sys.executable, "-m", "fairlead", "serve", "--port", str(self.port)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stderr=log, env=self.environment)

    def get(self, path: str) -> tuple[int, bytes]:
        """Return status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_WAIT_S)
        with contextlib.closing(connection):
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def wait_until_ready(self) -> None:
        """Return when it has read what stood in the topics."""
        deadline = time.monotonic() + _WAIT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError):
                if self.get("/readyz")[0] == http.HTTPStatus.OK:
                    return
            time.sleep(0.1)
        raise TimeoutError(self.log.read_text())

    def cpu_seconds(self) -> float:
        """Return the processor time that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_mib(self) -> int:
        """Return the memory that it holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) // 1_024


def median_seconds(action: Callable[[], object], runs: int) -> float:
    """Return the median time of an action."""
    times = []
    for _ in range(runs):
        begun = time.monotonic()
        action()
        times.append(time.monotonic() - begun)
        # Answers are given again for half a second; each run is to make its own.
        time.sleep(0.6)
    return statistics.median(times)


def heartbeat_for(bootstrap: str, fleet: Fleet, seconds: float) -> float:
    """Heartbeat as the members would, for so long; return the records written per second."""
    written, begun = 0, time.monotonic()
    with contextlib.closing(KafkaProducer(bootstrap_servers=bootstrap, linger_ms=20)) as producer:
        for sequence in range(2, 1_000_000):
            round_ends = time.monotonic() + _HEARTBEAT_MS / 1_000
            for topic, partition, key, value in fleet.heartbeats(sequence):
                producer.send(topic, key=key, value=value, partition=partition)
                written += 1
            producer.flush()
            if time.monotonic() - begun > seconds:
                return written / (time.monotonic() - begun)
            time.sleep(max(round_ends - time.monotonic(), 0))
    raise AssertionError("unreachable")


def measured(groups: int, members: int, queues: int, seconds: float) -> dict[str, Any]:
    """Return the figures."""
    with tempfile.TemporaryDirectory() as made, EmbeddedKafka(Path(made) / "kafka") as cluster:
        settings = load_settings().topics
        connection = {"bootstrap_servers": cluster.bootstrap}
        create_topics(connection, NAMES.prefix, topic_specs(settings), 1)
        fleet = Fleet(
            groups, members, queues, settings.heartbeats_partitions, settings.assignments_partitions
        )
        with contextlib.closing(KafkaProducer(**connection, linger_ms=50)) as producer:
            for records in (fleet.records(), fleet.heartbeats(1)):
                for topic, partition, key, value in records:
                    producer.send(topic, key=key, value=value, partition=partition)
            producer.flush()
        begun = time.monotonic()
        serve = Serve(cluster.bootstrap, Path(made))
        try:
            serve.wait_until_ready()
            ready = time.monotonic() - begun
            return {
                "groups": groups, "members": members, "queues": queues,
                "ready_seconds": round(ready, 2),
                **_asked(serve),
                **_following(serve, cluster.bootstrap, fleet, seconds),
                "resident_mib": serve.resident_mib(),
            }  # fmt: skip
        finally:
            serve.process.terminate()
            serve.process.wait()


def _asked(serve: Serve) -> dict[str, Any]:
    listed = [sys.executable, "-m", "fairlead", "group", "list", "-o", "jsonl"]

    def list_groups() -> int:
        answer = subprocess.run(listed, env=serve.environment, capture_output=True, check=True)
        return answer.stdout.count(b"\n")

    text = serve.get("/metrics")[1]
    return {
        "list_seconds": round(median_seconds(list_groups, 5), 3),
        "list_lines": list_groups(),
        "api_list_seconds": round(median_seconds(lambda: serve.get("/api/v1/groups"), 7), 3),
        "api_list_bytes": len(serve.get("/api/v1/groups")[1]),
        "metrics_seconds": round(median_seconds(lambda: serve.get("/metrics"), 7), 3),
        "metrics_bytes": len(text),
        "metrics_series": sum(not line.startswith(b"#") for line in text.splitlines()),
    }


def _following(serve: Serve, bootstrap: str, fleet: Fleet, seconds: float) -> dict[str, Any]:
    begun, used = time.monotonic(), serve.cpu_seconds()
    rate = heartbeat_for(bootstrap, fleet, seconds)
    busy = (serve.cpu_seconds() - used) / (time.monotonic() - begun)
    state = json.loads(serve.get("/readyz")[1])
    return {
        "records_per_second": round(rate),
        "following_cpu": round(busy, 2),
        "records_behind": state["records_behind"],
    }


def main() -> None:
    """Measure, print, and judge if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=2_000)
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--queues", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=20.0, help="of heartbeats")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    chosen = parser.parse_args()
    figures = measured(chosen.groups, chosen.members, chosen.queues, chosen.seconds)
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    holds = (
        figures["list_seconds"] < LIST_SECONDS_MAX
        and figures["list_lines"] == chosen.groups
        and figures["metrics_seconds"] < METRICS_SECONDS_MAX
        and figures["metrics_bytes"] < METRICS_BYTES_MAX
    )
    if chosen.check and not holds:
        sys.exit(1)


if __name__ == "__main__":
    main()
