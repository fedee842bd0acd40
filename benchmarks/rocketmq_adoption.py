"""How soon a decision is carried out: Java's attached consumers beside Python's direct ones.

Both groups read one topic of a real RocketMQ, in one run on the real broker and job. In turns a
consumer of each joins and leaves again. Two times count for each queue that moves: from the append
of the decision that names its new owner to the start of the work there, and from the stop of the
work at the old owner to that start.

    python -m benchmarks.rocketmq_adoption [--clients 3] [--rounds 10] [--ordered] [--check]
"""

import argparse
import contextlib
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

import orjson
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections
from fairlead_proof.demo.fleet import Fleet
from fairlead_proof.demo.floor import Floor
from fairlead_proof.demo_rocketmq.consumer_command import consumer_command
from fairlead_proof.demo_rocketmq.topic import DemoTopic
from fairlead_proof.local.child import Child
from fairlead_proof.local.follower import DecisionFollower
from fairlead_proof.local.gateways import Gateways
from fairlead_proof.local.system import LocalSystem, SystemPlan

from fairlead.core.model import Epoch, MessageQueue
from fairlead.embedded_rocketmq import EmbeddedRocketMQ
from fairlead.rocketmq.name_servers import NameServers, addresses_of
from fairlead.verify.history import Start, Stop
from fairlead.verify.journal import read_journal
from fairlead.wire.decision_records import DecisionRecord

MORE_MS_MAX: Final = 50.0
"""By so much Java's consumers may be later than Python's, in the median."""
GAP_MS_MAX: Final = 100.0
"""So long a queue of ordered listeners may have no owner, in the median."""
RATE: Final = 200
QUEUES: Final = 12
_PREFIX: Final = "fairlead."
_NEW: Final = "-new-"
_SETTLED_SECONDS: Final = 120.0


@dataclass
class Group:
    """One group: its consumers, and the engine's decisions about it.

    Attributes:
        name: of the group, and the language of its consumers.
        fleet: its consumers.
        follower: follows its decisions.
        decisions: all of them.
    """

    name: str
    fleet: Fleet
    follower: DecisionFollower
    decisions: list[DecisionRecord] = field(default_factory=list)

    def join(self, *clients: str) -> None:
        """Let consumers join, and wait until the group is settled."""
        for client in clients:
            self.fleet.start(client)
        self._await(
            lambda floor: all(floor.seats[each].state == "ready" for each in clients), "ready"
        )
        self.fleet.join(*clients)
        self._settle()

    def leave(self, client: str) -> None:
        """Let a consumer leave, and wait until the group is settled."""
        self.fleet.leave(client)
        self._await(lambda floor: floor.seats[client].state == "left", "gone")
        self._settle()

    def _settle(self) -> None:
        members, ownership = self.fleet.members(), self.follower.ownership
        self._await(
            lambda floor: (
                ownership.is_settled_among(members, len(ownership.granted))
                and len(ownership.granted) >= QUEUES
                and floor.agrees_with(ownership.granted)
            ),
            f"settled among {len(members)}",
        )

    def _await(self, holds: Callable[[Floor], bool], what: str) -> None:
        if not self.fleet.wait_until(holds, _SETTLED_SECONDS):
            tails = "\n".join(self.fleet.log_tail(each) for each in sorted(self.fleet.members()))
            raise TimeoutError(f"{self.name}: not {what} in {_SETTLED_SECONDS:.0f} s:\n{tails}")


@dataclass(frozen=True)
class Times:
    """What was measured of one group, in milliseconds, for each queue that moved.

    Attributes:
        adopted: from the decision to the start.
        by_newcomers: the same, of queues that a consumer got which had just joined.
        unowned: from the stop to the start.
    """

    adopted: Sequence[float]
    by_newcomers: Sequence[float]
    unowned: Sequence[float]

    @property
    def words(self) -> str:
        """What people read."""
        return (
            f"{len(self.adopted)} moves, decided to started p50 {median(self.adopted):.0f} ms (by"
            f" newcomers {median(self.by_newcomers):.0f} ms), stopped to started p50"
            f" {median(self.unowned):.0f} ms, longest {max(self.unowned):.0f} ms"
        )


def times_of(group: Group) -> Times:
    """Return how soon the starts came behind their decisions, and behind the stops before them."""
    wall_ns = time.time_ns() - time.monotonic_ns()
    decided: dict[tuple[MessageQueue, Epoch], int] = {}
    newcomers = {path for client, path in group.fleet.journals.items() if _NEW in client}
    for decision in group.decisions:
        for move in decision.moves:
            if move.stage in ("gated", "granted"):
                decided.setdefault((move.queue, move.epoch), decision.written_ms)
    lines = sorted(
        (
            (record, path in newcomers)
            for path in group.fleet.journals.values()
            for journal in read_journal(path)
            for record in journal.records
            if isinstance(record, Start | Stop)
        ),
        key=lambda line: line[0].t_ns,
    )
    stopped: dict[MessageQueue, int] = {}
    adopted, by_newcomers, unowned = [], [], []
    for record, is_newcomers in lines:
        if isinstance(record, Stop):
            stopped[record.queue] = record.t_ns
        elif record.queue in stopped:
            unowned.append((record.t_ns - stopped.pop(record.queue)) / 1e6)
            written_ms = decided[record.queue, record.epoch]
            took_ms = (record.t_ns + wall_ns) / 1e6 - written_ms
            adopted.append(took_ms)
            if is_newcomers:
                by_newcomers.append(took_ms)
    return Times(adopted, by_newcomers, unowned)


def measure(clients: int, rounds: int, *, ordered: bool) -> Mapping[str, Times]:
    """Return the times of each group."""
    java = consumer_command("5.3.3")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cluster = EmbeddedRocketMQ(folder / "servers", version="5.3.3")
        stack.enter_context(cluster)
        connections = stack.enter_context(Connections(ConnectionSettings()))
        topic = DemoTopic(
            "orders", connections, NameServers(connections, addresses_of(cluster.namesrv))
        )
        topic.resize(QUEUES)
        system, gateways = _started(stack, folder, cluster)
        place = {"topic": topic.name}
        reads = {"data_plane": "rocketmq", "namesrv": cluster.namesrv, "ordered": ordered}
        direct = {
            "bootstrap": system.bootstrap,
            "prefix": _PREFIX,
            "consumers": "push",
            "settings": orjson.dumps(reads).decode(),
        }
        attached = {
            "namesrv": cluster.namesrv,
            "gateway": gateways.url,
            "work-ms": "0",
            "ordered": str(ordered).lower(),
        }
        groups = [
            _group(stack, system, "python", {**place, **direct}, None),
            _group(stack, system, "java", {**place, **attached}, java),
        ]
        for group in groups:
            _say(f"{clients} consumers join: {group.name}")
            group.join(*(f"{group.name}-{number}" for number in range(clients)))
        stack.callback(_producer(cluster, topic, folder).kill)
        for number in range(rounds):
            for group in groups:
                newcomer = f"{group.name}{_NEW}{number}"
                group.join(newcomer)
                group.leave(newcomer)
        return {group.name: times_of(group) for group in groups}


def _started(
    stack: contextlib.ExitStack, folder: Path, cluster: EmbeddedRocketMQ
) -> tuple[LocalSystem, Gateways]:
    plan = SystemPlan(folder, None, _PREFIX, "", 0, {})
    system = stack.enter_context(LocalSystem(plan, _say))
    system.start_broker()
    system.make_topics()
    system.start_bridge("--namesrv", cluster.namesrv, kind="rocketmq")
    system.start_engine()
    gateways = stack.enter_context(Gateways(system, 1))
    system.await_engine()
    gateways.await_ready(0)
    return system, gateways


def _producer(cluster: EmbeddedRocketMQ, topic: DemoTopic, folder: Path) -> Child:
    flags = ["--namesrv", cluster.namesrv, "--topic", topic.name, "--rate", str(RATE)]
    command = [sys.executable, "-m", "fairlead_proof.demo_rocketmq.producer_process", *flags]
    return Child("producer", command, folder / "producer.log")


def _group(
    stack: contextlib.ExitStack,
    system: LocalSystem,
    name: str,
    arguments: Mapping[str, str],
    command: Sequence[str] | None,
) -> Group:
    condition = threading.Condition()
    folder = system.plan.folder / name
    folder.mkdir()
    given = {**arguments, "group": name}
    fleet = Fleet(folder, given, condition, commands=lambda _: command)
    stack.callback(fleet.stop)
    decisions: list[DecisionRecord] = []
    follower = DecisionFollower(
        system.bootstrap,
        f"{_PREFIX}decisions",
        name,
        condition=condition,
        on_decision=decisions.append,
    )
    return Group(name, fleet, stack.enter_context(follower), decisions)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> None:
    """Measure, and say whether Java's consumers are as quick."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--ordered", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target fails")
    arguments = parser.parse_args()
    found = measure(arguments.clients, arguments.rounds, ordered=arguments.ordered)
    for name, times in found.items():
        sys.stdout.write(f"{name}: {times.words}\n")
    more = median(found["java"].adopted) - median(found["python"].adopted)
    gap = median(found["java"].unowned)
    checks = {
        f"Java's consumers start {more:.0f} ms later in the median; at most {MORE_MS_MAX:.0f}": (
            more <= MORE_MS_MAX
        ),
        f"a queue has no owner for {gap:.0f} ms in the median; at most {GAP_MS_MAX:.0f}": (
            gap <= GAP_MS_MAX
        ),
    }
    for words, holds in checks.items():
        sys.stdout.write(f"{'ok  ' if holds else 'FAIL'} {words}\n")
    if arguments.check and not all(checks.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
