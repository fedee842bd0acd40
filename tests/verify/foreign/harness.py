"""The runs of the foreign harness: a real system, and what is done to its clients.

    python -m tests.verify.foreign.harness FOLDER

Each group of FOLDER has a folder of journals and a fault log; ``recording`` has the topics of all.
``tests/verify/healthy_runs.tar.gz`` was made so: nothing that a client did there is wrong.
"""

import contextlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from fairlead_proof.local.processes import list_processes
from fairlead_proof.local.system import LocalSystem, SystemPlan
from kafka import KafkaAdminClient, KafkaProducer

from tests.faults.standstill import Standstill

TOPIC: Final = "orders"
SINGLE: Final = "single"
PARTITIONS: Final = 3
PREFIX: Final = "t."
LEASE_MS: Final = 3_000
MARGIN_MS: Final = 1_000
SECONDS_MAX: Final = 120.0
MESSAGE_SECONDS: Final = 0.1
SETTINGS: Final = {
    "engine.tick_ms": "250",
    "client.heartbeat_ms": "600",
    "group_defaults.lease_ms": str(LEASE_MS),
    "group_defaults.margin_ms": str(MARGIN_MS),
    "group_defaults.strategy": "AVG",
    "topics.heartbeats_partitions": "2",
    "topics.assignments_partitions": "2",
}


def say(line: str) -> None:
    """Write a line, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def until(what: str, holds: Callable[[], object]) -> None:
    """Return when something holds.

    Raises:
        TimeoutError: it does not come to hold in time.
    """
    deadline = time.monotonic() + SECONDS_MAX
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.02)


class Process:
    """One consumer's process, and what its journal says."""

    def __init__(self, group: "Group", kind: str, client_id: str, **settings: Any) -> None:
        self.client_id = client_id
        self.journal = group.journals / f"{client_id}-{len(group.processes)}.jsonl"
        settings = {**group.settings, "client_id": client_id, **settings}
        command = [sys.executable, "-m", "tests.verify.foreign.consumer", kind]
        with (group.folder / f"{self.journal.stem}.log").open("wb") as log:
            self.process = subprocess.Popen(
                [*command, str(self.journal), json.dumps(settings)],
                stdin=subprocess.PIPE,
                stderr=log,
            )
        self.pid = self.process.pid
        group.processes.append(self)

    def say(self, word: str) -> None:
        """Tell it something."""
        assert self.process.stdin is not None
        self.process.stdin.write(word.encode() + b"\n")
        self.process.stdin.flush()

    def lines(self, kind: str) -> list[dict[str, Any]]:
        """Return the lines of one kind."""
        if not self.journal.exists():
            return []
        whole = self.journal.read_bytes().rpartition(b"\n")[0].splitlines()
        return [line for line in map(json.loads, whole) if line["kind"] == kind]

    def owns(self) -> int:
        """Return how many queues it works on."""
        return len(self.lines("start")) - len(self.lines("stop"))

    def await_owned(self, least: int = 1) -> None:
        """Return when it works on so many queues."""
        until(f"{self.journal} owns {least}", lambda: self.owns() >= least)

    def await_work(self, more: int = 5) -> None:
        """Return when it has processed so many more messages."""
        before = len(self.lines("consumed"))
        until(f"{self.journal} works", lambda: len(self.lines("consumed")) >= before + more)

    def end(self, word: str = "quit") -> None:
        """Have it leave; return when it is gone."""
        if self.process.poll() is None:
            self.say(word)
            try:
                self.process.wait(SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise
        self._hang_up()

    def kill(self) -> tuple[int, int]:
        """SIGKILL; return when it was sent and when the process was gone."""
        sent = time.monotonic_ns()
        self.process.kill()
        self.process.wait()
        dead = time.monotonic_ns()
        self._hang_up()
        return sent, dead

    def _hang_up(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()


class Group:
    """One group: its processes and its fault log."""

    def __init__(self, folder: Path, name: str, bootstrap: str, topic: str = TOPIC) -> None:
        self.name, self.folder = name, folder / name
        self.journals = self.folder / "journals"
        self.journals.mkdir(parents=True)
        self.processes: list[Process] = []
        self.settings = {
            "bootstrap": bootstrap,
            "prefix": PREFIX,
            "group": name,
            "topics": [topic],
            "consume_from": "first_offset",
            "heartbeat_ms": 600,
            "lease_ms": LEASE_MS,
            "progress_ms": 2_000,
        }

    def log(self, kind: str, **fields: object) -> None:
        """Write a line into the fault log."""
        with (self.folder / "faults.jsonl").open("a") as stream:
            stream.write(json.dumps({"kind": kind, **fields}) + "\n")

    def kill(self, process: Process) -> None:
        """Kill a process, and log it."""
        sent, dead = process.kill()
        who = {"client_id": process.client_id, "pid": process.pid}
        self.log("client_killed", **who, sent=sent, dead=dead)

    def pair(self, kind: str) -> tuple[Process, Process]:
        """Start two processes one after the other, and return when both work."""
        first = Process(self, kind, "a")
        first.await_owned(PARTITIONS)
        first.await_work()
        second = Process(self, kind, "b")
        second.await_owned()
        second.await_work()
        return first, second

    def close(self) -> None:
        """Have everybody leave in order."""
        self.log("closing", t=time.monotonic_ns())
        for process in self.processes:
            process.end()


def restarted(group: Group, system: LocalSystem) -> None:
    """A client is killed and comes back under its id, within the grace of its group."""
    first, second = group.pair("loop")
    rule = system.fairlead(
        "rule", "group", "set", group.name, "--restart-grace-ms", "30000", "--wait", "60"
    )
    if rule.wait(SECONDS_MAX) != 0:
        raise RuntimeError(rule.log_tail())
    group.kill(first)
    again = Process(group, "loop", "a")
    again.await_owned()
    again.await_work()
    group.kill(again)
    third = Process(group, "loop", "a")
    third.await_owned()
    third.await_work()
    second.await_work()


def frozen(group: Group, _: LocalSystem) -> None:
    """A process stands still until another one has its queues, then goes on."""
    first, second = group.pair("loop")
    with Standstill(first.pid) as still:
        second.await_owned(PARTITIONS)
        second.await_work()
    who = {"client_id": first.client_id, "pid": first.pid}
    group.log("client_frozen", **who, begin=still.since_ns, end=still.until_ns)
    until("it has stopped", lambda: len(first.lines("stop")) >= len(first.lines("start")) - 1)
    first.await_owned()
    first.await_work()


def failing(kind: str) -> Callable[[Group, LocalSystem], None]:
    """A listener on four threads fails now and then; queues move meanwhile."""

    def run(group: Group, _: LocalSystem) -> None:
        first, second = group.pair(kind)
        until("it fails", lambda: len(first.lines("failed")) >= 4)
        second.end()
        first.await_owned(PARTITIONS)
        third = Process(group, kind, "c")
        third.await_owned()
        third.await_work()

    return run


def batches(group: Group, _: LocalSystem) -> None:
    """A client that polls leaves in the middle of a batch."""
    first, second = group.pair("pull")
    first.end("drop")
    second.await_owned(PARTITIONS)
    second.await_work()


def early(group: Group, _: LocalSystem) -> None:
    """A process is killed before its first line."""
    group.pair("loop")
    group.kill(Process(group, "loop", "ghost"))


def back_and_forth(group: Group, system: LocalSystem) -> None:
    """A queue goes to and fro, and the batches that decide so are slow."""
    stays = Process(group, "loop", "z")
    stays.await_owned()
    for _ in range(4):
        goes = Process(group, "loop", "a")
        goes.await_owned()
        with SlowBatches(system):
            goes.end()
            stays.await_owned()
        stays.await_work(30)


class SlowBatches(threading.Thread):
    """As a context: the engine's Python workers get little time, while its driver ticks on."""

    def __init__(self, system: LocalSystem) -> None:
        super().__init__(daemon=True)
        self._group = system.engine.pid
        self._over = threading.Event()

    def run(self) -> None:
        """Let them run for a moment, again and again."""
        while not self._over.is_set():
            self._signal(signal.SIGSTOP)
            self._over.wait(1.2)
            self._signal(signal.SIGCONT)
            self._over.wait(0.05)

    def __enter__(self) -> None:
        """Begin."""
        self.start()

    def __exit__(self, *_: object) -> None:
        """End."""
        self._over.set()
        self.join()

    def _signal(self, number: signal.Signals) -> None:
        for each in list(list_processes()):
            line = Path(f"/proc/{each.pid}/cmdline")
            if each.group == self._group and b"pyspark.daemon" in line.read_bytes():
                os.kill(each.pid, number)


def lease_lost(group: Group, system: LocalSystem) -> None:
    """The broker stands still for longer than a lease; no word of it is in the fault log."""
    first, second = group.pair("loop")
    second.await_work(20)
    system.broker.pause()
    try:
        until("all leases have ended", lambda: all(each.owns() == 0 for each in (first, second)))
    finally:
        system.broker.resume()
    until("all is owned again", lambda: first.owns() + second.owns() == PARTITIONS)
    first.await_work()
    second.await_work()


def of_the_page(group: Group, _: LocalSystem) -> None:
    """The harness that docs/journals.md prints, as it stands there."""
    page = Path(__file__).resolve().parents[3] / "docs" / "journals.md"
    found = re.search(r"```python harness\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    path = group.folder / "harness.py"
    path.write_text(found[1], encoding="utf-8")
    spec = importlib.util.spec_from_file_location("harness_of_the_page", path)
    assert spec is not None
    assert spec.loader is not None
    printed = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(printed)
    printed.run(str(group.journals), str(group.folder / "faults.jsonl"), group.settings, 20)


SCENARIOS: Final[dict[str, Callable[[Group, LocalSystem], None]]] = {
    "restarted": restarted,
    "frozen": frozen,
    "failing": failing("push"),
    "sending-back": failing("push-sends-back"),
    "batches": batches,
    "early": early,
    "lease-lost": lease_lost,
    "back-and-forth": back_and_forth,
    "of-the-page": of_the_page,
}


class Producing(threading.Thread):
    """Sends a number to each queue in turn until it is stopped."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(daemon=True)
        self._producer = KafkaProducer(bootstrap_servers=bootstrap, linger_ms=0)
        self._ended = threading.Event()

    def run(self) -> None:
        """Send."""
        number = 0
        while not self._ended.wait(MESSAGE_SECONDS):
            number += 1
            body = b"%d" % number
            self._producer.send(TOPIC, body, partition=number % PARTITIONS)
            self._producer.send(SINGLE, body, partition=0)
        self._producer.flush()

    def stop(self) -> None:
        """Stop it; return when everything is sent."""
        self._ended.set()
        self.join()
        self._producer.close()


def run(folder: Path, names: list[str]) -> list[str]:
    """Run scenarios on one system, one after the other, and record the topics.

    Returns:
        What did not come to its end in time: what was done of it is judged all the same.
    """
    late: list[str] = []
    plan = SystemPlan(folder / "system", None, PREFIX, TOPIC, PARTITIONS, SETTINGS)
    plan.folder.mkdir(parents=True)
    with LocalSystem(plan, say) as system:
        system.start_broker()
        system.make_topics()
        with contextlib.closing(KafkaAdminClient(bootstrap_servers=system.bootstrap)) as admin:
            admin.create_topics({SINGLE: {"num_partitions": 1}})
        system.start_bridge()
        system.start_engine()
        system.await_engine()
        producing = Producing(system.bootstrap)
        producing.start()
        for name in names:
            topic = SINGLE if name == "back-and-forth" else TOPIC
            group = Group(folder, name, system.bootstrap, topic)
            began = time.monotonic()
            try:
                SCENARIOS[name](group, system)
            except (TimeoutError, subprocess.TimeoutExpired) as error:
                late.append(f"{name}: {error}")
            finally:
                group.close()
            say(f"{name}: {time.monotonic() - began:.1f} s")
        producing.stop()
        sources = ("--source", TOPIC, "--source", SINGLE)
        record = system.fairlead("record", "record", "--to", str(folder / "recording"), *sources)
        if record.wait(SECONDS_MAX) != 0:
            raise RuntimeError(record.log_tail())
    return late


if __name__ == "__main__":
    sys.exit("\n".join(run(Path(sys.argv[1]), sys.argv[2:] or list(SCENARIOS))) or 0)
