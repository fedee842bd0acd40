"""How many clients one gateway bears: a real broker, a real `fairlead serve`, thousands of clients.

There is no engine: this program writes what an engine would, so that the gateway's share of the
machine is the gateway's own. It measures the gateway at rest, then with all clients polling, and
how old news is when a client hears it.

    python -m benchmarks.gateway_load [--sessions 1200] [--queues 10] [--seconds 20] [--check]
"""

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson
from kafka import KafkaProducer

from fairlead.broker import EmbeddedKafka
from fairlead.broker.ports import free_ports
from fairlead.http.descriptors import raise_descriptor_limit
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings
from fairlead.wire.partition import partition_of_client
from fairlead.wire.topics import TopicNames

NAMES: Final = TopicNames("fairlead.")
SESSIONS_PER_CORE: Final = 1_500
"""Fewer are a step back: one process has borne 1,900 with ten moving queues, 2,400 with one."""
NEWS_P99_MS: Final = 100.0
REST_SHARE_MAX: Final = 0.01
REST_MIB_MAX: Final = 80.0
_NEWS_PER_SECOND: Final = 40
_WAIT_S: Final = 120.0


class Engine:
    """Writes assignments as an engine does: all queues of a member, or one more."""

    def __init__(self, bootstrap: str, partitions: int) -> None:
        self._producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all", linger_ms=0)
        self._partitions = partitions
        self._owned: dict[str, list[tuple[list[Any], int, int]]] = {}
        self._number = 0

    def claim(self) -> None:
        """Claim the first generation."""
        value = orjson.dumps({"v": 1, "kind": "generation", "driver": "bench", "at_ms": _now_ms()})
        self._producer.send(NAMES.name("generations"), key=b"bench", value=value).get(10)

    def grant(self, member: dict[str, Any], queues: int) -> None:
        """Grant a member so many queues more; their offset is the time of the grant."""
        self._number += 1
        owned = self._owned.setdefault(member["client_id"], [])
        first = int(member["client_id"].rpartition("-")[2]) * 1_000 + len(owned)
        owned += [
            ([f"of-{member['group']}", "main", first + number], self._number, _now_ms())
            for number in range(queues)
        ]
        group, client, session = (member[key] for key in ("group", "client_id", "session"))
        place = {"v": 1, "kind": "assignment", "group": group, "client_id": client}
        value = place | {
            "incarnation": session, "generation": 1, "epoch": [1, self._number], "part": 0,
            "parts": 1, "drop": [], "cause": [], "at_ms": _now_ms(),
            "add": [
                {"queue": queue, "epoch": [1, number], "position": [0, offset], "after": []}
                for queue, number, offset in owned[-queues:]
            ],
            "assigned": [
                {"queue": queue, "epoch": [1, number], "state": "held"}
                for queue, number, _ in owned
            ],
        }  # fmt: skip
        self._producer.send(
            NAMES.name("assignments"),
            key=orjson.dumps([group, client, session, 0]),
            value=orjson.dumps(value),
            partition=partition_of_client(group, client, self._partitions),
        )

    def flush(self) -> None:
        """Return when everything is written."""
        self._producer.flush(30)


class Gateway:
    """The process that is measured."""

    def __init__(self, bootstrap: str, folder: Path, sessions: int) -> None:
        (self.port,) = free_ports(1)
        settings = {
            "KAFKA__BOOTSTRAP": bootstrap, "GATEWAY__ENABLED": "true", "SERVE__PORT": self.port,
            "GATEWAY__SESSIONS": sessions + 100, "SERVE__OBSERVE": "false", "SERVE__URL": f"http://127.0.0.1:{self.port}",
        }  # fmt: skip
        named = {f"FAIRLEAD__{name}": str(value) for name, value in settings.items()}
        self._log = folder / "serve.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "fairlead", "serve"],
                stderr=log,
                env={**os.environ, **named},
            )

    def get(self, path: str) -> str:
        """Return a page."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            text: str = answer.read().decode()
        return text

    def wait_until_ready(self) -> None:
        """Return when it answers clients."""
        deadline = time.monotonic() + _WAIT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError):
                self.get("/readyz")
                return
            time.sleep(0.2)
        raise TimeoutError(self._log.read_text())

    def cpu_seconds(self) -> float:
        """Return the processor time that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_mib(self) -> float:
        """Return how much memory it has."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1_024


class Fleet:
    """The process with the clients."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.gateway_fleet"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def tell(self, **command: object) -> None:
        """Send a command."""
        assert self._process.stdin is not None
        self._process.stdin.write(orjson.dumps(command) + b"\n")
        self._process.stdin.flush()

    def words(self) -> Iterator[dict[str, Any]]:
        """Yield what it says."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            yield json.loads(line)

    def end(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


def measure(sessions: int, queues: int, seconds: float) -> dict[str, float]:
    """Return the figures of a run."""
    raise_descriptor_limit(sessions + 500)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        kafka = stack.enter_context(EmbeddedKafka(folder / "broker"))
        settings = load_settings()
        connection = {"bootstrap_servers": kafka.bootstrap}
        create_topics(connection, NAMES.prefix, topic_specs(settings.topics))
        engine = Engine(kafka.bootstrap, settings.topics.assignments_partitions)
        engine.claim()
        gateway = Gateway(kafka.bootstrap, folder, sessions)
        stack.callback(gateway.process.kill)
        gateway.wait_until_ready()
        time.sleep(5)
        rest = _share(gateway, seconds)
        rest_mib = gateway.resident_mib()
        _say(f"at rest: {rest:.2%} of a core, {rest_mib:.0f} MiB")
        fleet = Fleet()
        stack.callback(fleet.end)
        members = _joined(fleet, engine, gateway.port, sessions, queues)
        time.sleep(10)
        figures = _polled(fleet, engine, gateway, members, seconds)
        metrics = gateway.get("/metrics")
    return {
        "rest_share": rest,
        "rest_mib": rest_mib,
        **figures,
        "sessions": float(metrics.split("\nfairlead_gateway_sessions ")[1].split()[0]),
    }


def _joined(
    fleet: Fleet, engine: Engine, port: int, sessions: int, queues: int
) -> list[dict[str, Any]]:
    members: list[dict[str, Any]] = []
    begun = time.monotonic()
    fleet.tell(join=sessions, port=port)
    for words in fleet.words():
        if "joined" in words:
            break
        members.append(words)
        engine.grant(words, queues)
    engine.flush()
    _say(f"{sessions} clients joined in {time.monotonic() - begun:.1f} s")
    return members


def _polled(
    fleet: Fleet, engine: Engine, gateway: Gateway, members: list[dict[str, Any]], seconds: float
) -> dict[str, float]:
    """Grant queues to some members while all poll; return what was seen."""
    chance = random.Random(1)
    fleet.tell(measure=seconds)
    begun, used = time.monotonic(), gateway.cpu_seconds()
    granted = 0
    while (passed := time.monotonic() - begun) < seconds - 2:
        if granted < passed * _NEWS_PER_SECOND:
            engine.grant(chance.choice(members), 1)
            granted += 1
        else:
            time.sleep(0.005)
    words = next(fleet.words())
    took = time.monotonic() - begun
    share = (gateway.cpu_seconds() - used) / took
    news = sorted(words["news_ms"])
    _say(f"{words['polls'] / took:.0f} polls a second, {len(news)} news, errors {words['errors']}")
    return {
        "share": share,
        "sessions_per_core": len(members) / share,
        "us_per_poll": share * took / words["polls"] * 1e6,
        "news": len(news),
        "news_p50_ms": news[len(news) // 2] if news else float("inf"),
        "news_p99_ms": news[int(len(news) * 0.99)] if news else float("inf"),
        "loaded_mib": gateway.resident_mib(),
        "errors": sum(words["errors"].values()),
    }


def _share(gateway: Gateway, seconds: float) -> float:
    used, begun = gateway.cpu_seconds(), time.monotonic()
    time.sleep(seconds)
    return (gateway.cpu_seconds() - used) / (time.monotonic() - begun)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> None:
    """Measure, and say whether the targets hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1_200)
    parser.add_argument("--queues", type=int, default=10, help="of each client")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target fails")
    arguments = parser.parse_args()
    figures = measure(arguments.sessions, arguments.queues, arguments.seconds)
    targets = {
        f"clients of a core: at least {SESSIONS_PER_CORE:,}": figures["sessions_per_core"]
        >= SESSIONS_PER_CORE,
        f"news, p99: at most {NEWS_P99_MS:.0f} ms": figures["news_p99_ms"] <= NEWS_P99_MS,
        f"at rest: at most {REST_SHARE_MAX:.0%} of a core": figures["rest_share"] <= REST_SHARE_MAX,
        f"at rest: at most {REST_MIB_MAX:.0f} MiB": figures["rest_mib"] <= REST_MIB_MAX,
    }
    for name, value in figures.items():
        sys.stdout.write(f"{name}: {value:,.3g}\n")
    for name, holds in targets.items():
        sys.stdout.write(f"{'ok  ' if holds else 'FAIL'} {name}\n")
    if arguments.check and not all(targets.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
