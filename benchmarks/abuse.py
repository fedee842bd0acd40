"""One client of the trust domain abuses an engine, while a witness group has clients that join.

Everything is real but the witnesses' data: broker, engine, records. The abuser makes 10,000 new
groups at once, heartbeats for 20,000 members of one group, changes its subscription 200 times and a
route 50 times a second. Printed are the joins of the witness group before, during and after it.
With ``--check`` the exit code tells whether the p99 during the abuse is within twice the one before
and whether the engine that was started is the one that runs in the end.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from math import ceil
from pathlib import Path
from statistics import median
from typing import Any, Final

import orjson
from fairlead_proof.bench.batch_clock import BatchClock
from fairlead_proof.local.system import LocalSystem, SystemPlan
from kafka import KafkaProducer

from benchmarks.fleet_load import FleetLoad, LoadClient, gather, time_joins
from fairlead.wire.partition import partition_of_group

SHARDS: Final = 4
WITNESS: Final = "witness"
RATIO_MAX: Final = 2.0
FLAPS_PER_SECOND: Final = 200
ROUTES_PER_SECOND: Final = 50
GROUPS: Final = 10_000
MEMBERS: Final = 20_000
HEARTBEAT_SECONDS: Final = 3.0
GENERATION: Final = 1


class Abuser:
    """Writes what no honest client does, in a process of its own, until its parent stops it."""

    def __init__(self, bootstrap: str, prefix: str, scale: float) -> None:
        self._prefix = prefix
        self._scale = scale
        self._stop = threading.Event()
        self._producer = KafkaProducer(bootstrap_servers=bootstrap, acks=1, linger_ms=20)
        self.written = 0

    def stop(self, *_: object) -> None:
        """Let the abuse end."""
        self._stop.set()

    def run(self) -> None:
        """Write until it is stopped."""
        for number in range(int(GROUPS * self._scale)):
            self._beat(LoadClient(f"invented-{number}", "abuser"))
        members = [
            LoadClient("crowd", f"c{number}") for number in range(int(MEMBERS * self._scale))
        ]
        flapping = LoadClient("flapping", "abuser")
        begun = time.monotonic()
        done = dict.fromkeys(("crowd", "flaps", "routes"), 0)
        pace = {
            "crowd": len(members) / HEARTBEAT_SECONDS,
            "flaps": FLAPS_PER_SECOND,
            "routes": ROUTES_PER_SECOND,
        }
        while not self._stop.is_set():
            passed = time.monotonic() - begun
            for what, a_second in pace.items():
                # What cannot be written in time is not made up for: the abuser is no faster.
                due = min(int(passed * a_second), done[what] + int(a_second))
                for number in range(done[what], due):
                    self._do(what, number, members, flapping)
                done[what] = max(due, int(passed * a_second))
            self._stop.wait(0.01)
        self._producer.close(30)

    def _do(self, what: str, number: int, members: list[LoadClient], flapping: LoadClient) -> None:
        if what == "crowd":
            self._beat(members[number % len(members)])
        elif what == "flaps":
            self._beat(flapping, topics=["work", "flapped"] if number % 2 else ["flapped"])
        else:
            self._route(8 if number % 2 else 16)

    def _beat(self, client: LoadClient, topics: list[str] | None = None) -> None:
        body = client.heartbeat(GENERATION)
        if topics is not None:
            one = body["subscriptions"][0]
            body["subscriptions"] = [{**one, "topic": topic} for topic in topics]
        group = client.group
        self._append("heartbeats", group.encode(), partition_of_group(group, SHARDS), body)

    def _route(self, queues: int) -> None:
        broker = {
            "broker_name": "main", "cluster": "main", "perm": 6, "read_queue_nums": queues,
            "write_queue_nums": queues, "addresses": {}, "leaders": None, "zones": None,
        }  # fmt: skip
        about = {"topic": "flapped", "identity": "one", "order_topic_conf": None}
        body = {"v": 1, "kind": "route", **about, "brokers": [broker]}
        self._append("routes", b"flapped", 0, body)

    def _append(self, suffix: str, key: bytes, partition: int, body: dict[str, Any]) -> None:
        self.written += 1
        topic = f"{self._prefix}{suffix}"
        self._producer.send(topic, orjson.dumps(body), key=key, partition=partition)


def abuse(scale: float, joins: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Start everything, abuse it, and return what the witness group saw."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fairlead-abuse-")))
        plan = SystemPlan(
            folder=folder,
            bootstrap=None,
            prefix="abuse.",
            source="abuse-orders",
            partitions=8,
            settings={"topics.heartbeats_partitions": str(SHARDS)},
        )
        system = stack.enter_context(LocalSystem(plan, say))
        system.start_broker()
        system.make_topics()
        system.start_engine()
        system.await_engine()
        engine = system.engine.pid
        load = FleetLoad(system.bootstrap, plan.prefix, SHARDS)
        say("the witness group joins")
        chance = random.Random(1)
        beats = gather(load, [LoadClient(WITNESS, f"client-{number}") for number in range(4)])
        before = time_joins(load, beats, [WITNESS], joins, chance)
        say(f"joins before it: {_worded(before)} s")
        say(f"abuse: {int(GROUPS * scale)} groups, {int(MEMBERS * scale)} members, flapping")
        command = [sys.executable, "-m", "benchmarks.abuse", "--scale", str(scale)]
        abuser = subprocess.Popen(
            [*command, "--abuse", system.bootstrap, "--prefix", plan.prefix], stdout=subprocess.PIPE
        )
        stack.callback(abuser.kill)
        with BatchClock(f"http://127.0.0.1:{system.metrics_port}/metrics") as batches:
            during = time_joins(load, beats, [WITNESS], joins, chance)
        say(f"joins during it: {_worded(during)} s")
        for phase, times in sorted(batches.phases_ms.items()):
            say(f"  batches, {phase}: median {median(times):.0f} ms, longest {max(times):.0f} ms")
        abuser.terminate()
        written = int(abuser.communicate(timeout=60)[0])
        say(f"{written} records were written; joins after it")
        after = time_joins(load, beats, [WITNESS], joins, chance)
        return {
            "before": before,
            "during": during,
            "after": after,
            "written": written,
            "same_engine": system.engine.exit_code is None and system.engine.pid == engine,
        }


def _worded(seconds: list[float]) -> str:
    return " ".join(f"{each:.2f}" for each in seconds)


def p99_of(seconds: list[float]) -> float:
    """Return the time that 99 of 100 joins did not exceed; of fewer than a hundred the longest."""
    return sorted(seconds)[ceil(0.99 * len(seconds)) - 1]


def main() -> None:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="a part of the abuse")
    parser.add_argument("--joins", type=int, default=100, help="joins of each kind")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a bound is passed")
    # How the command starts the abuser beside itself.
    parser.add_argument("--abuse", help=argparse.SUPPRESS)
    parser.add_argument("--prefix", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.abuse is not None:
        # An abuser has a machine of its own: here it must not take the engine's processors.
        os.nice(19)
        abuser = Abuser(given.abuse, given.prefix, given.scale)
        signal.signal(signal.SIGTERM, abuser.stop)
        abuser.run()
        print(abuser.written)  # noqa: T201 - its caller reads it
        return
    figures = abuse(given.scale, given.joins, lambda text: print(text, file=sys.stderr))  # noqa: T201
    p99 = {when: p99_of(figures[when]) for when in ("before", "during", "after")}
    ratio = p99["during"] / p99["before"]
    print(json.dumps({**figures, "p99": p99, "ratio": ratio}))  # noqa: T201
    held = ratio <= RATIO_MAX and p99["after"] <= RATIO_MAX * p99["before"]
    if given.check and not (held and figures["same_engine"]):
        sys.exit(1)


if __name__ == "__main__":
    main()
