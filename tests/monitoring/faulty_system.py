"""A whole running system with a group for each fault, and one to which nothing happens."""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Self

from fairlead_proof.demo.fleet import Fleet
from fairlead_proof.demo.floor import Floor
from fairlead_proof.local.processes import PROC, family_of
from fairlead_proof.local.system import LocalSystem, SystemPlan
from kafka import KafkaProducer

from fairlead.broker.ports import free_ports
from fairlead.core.records import RuleSet
from fairlead.kafka.rule_writer import write_rules
from fairlead.settings import load_settings
from fairlead.wire.partition import partition_of_group
from tests.faults.standstill import Standstill
from tests.fixtures.kafka import FEW_PARTITIONS
from tools.alerts.alert import ENGINE, SERVE, Job

CALM: Final = "calm"
"""The group that only sees a client join; its queues have series of their own."""

QUEUES: Final = 8
SHARDS: Final = 4
_MESSAGES: Final = 20
"""In each queue, before anybody reads: what is there at the end is what was not read."""
_PATIENCE_SECONDS: Final = 90.0
_LOOK_SECONDS: Final = 0.5
_CLIENT: Final = {
    "lease_ms": 5_000,
    "heartbeat_ms": 600,
    "progress_ms": 300,
    "commit_ms": 1_000,
    # Whoever has a message in hand keeps its queue until it is done.
    "drain_deadline_ms": None,
}
_SETTINGS: Final = {
    **FEW_PARTITIONS,
    "client.heartbeat_ms": "600",
    "group_defaults.lease_ms": "5000",
    "group_defaults.margin_ms": "2000",
    "group_defaults.drain_deadline_ms": "2000",
    "serve.lag_period_ms": "1000",
}


class FaultySystem:
    """Engine, bridge, serve and clients as processes; as a context they are ended on exit."""

    def __init__(self, folder: Path, bootstrap: str, prefix: str) -> None:
        """Describe it; ``folder`` takes its data and logs."""
        port = free_ports(1)[0]
        self._plan = SystemPlan(
            folder=folder,
            bootstrap=bootstrap,
            prefix=prefix,
            source=f"{prefix}orders",
            partitions=QUEUES,
            settings={**_SETTINGS, "serve.port": str(port), "gateway.enabled": "true"},
        )
        self._system = LocalSystem(self._plan, lambda _text: None)
        self._condition = threading.Condition()
        self._fleets: dict[str, Fleet] = {}
        self._engine_lives = True
        self.client_targets: list[str] = []
        """Where clients show their metrics."""
        self._stack = contextlib.ExitStack()
        self.targets: Mapping[Job, str] = {
            ENGINE: f"127.0.0.1:{self._system.metrics_port}",
            SERVE: f"127.0.0.1:{port}",
        }

    def __enter__(self) -> Self:
        """Start everything but clients; `await_engine` says when the engine decides."""
        try:
            system = self._stack.enter_context(self._system)
            system.start_broker()
            system.make_topics()
            self._stack.callback(system.delete_topics)
            system.start_bridge()
            system.start_engine()
            self._serve = system.fairlead("serve", "serve", "--config", str(self._queues_named()))
            self._stack.callback(self._serve.kill)
            self._fill()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def await_engine(self) -> None:
        """Return when the engine decides."""
        self._system.await_engine()

    # Clients.
    def start(
        self, group: str, name: str, *, topic: str = "", metrics: bool = False, **settings: Any
    ) -> None:
        """Start the process of a client, which joins on command.

        Args:
            group: its group.
            name: of the process; its client id too, unless the settings have another.
            topic: what it reads, the source unless named.
            metrics: it shows its client's metrics.
            settings: of the client, over those of all.
        """
        fleet = self._fleets.get(group) or self._new_fleet(group)
        client_id = settings.pop("client_id", name)
        arguments = {
            "client-id": client_id,
            "topic": topic or self._plan.source,
            "settings": json.dumps({**_CLIENT, **settings}),
        }
        if metrics:
            (port,) = free_ports(1)
            arguments["metrics-port"] = str(port)
            self.client_targets.append(f"127.0.0.1:{port}")
        fleet.start(name, **arguments)

    def join(self, group: str, *names: str) -> None:
        """Let clients join as soon as they can; return when they are about to."""
        fleet = self._fleets[group]
        self._await(
            fleet, lambda floor: all(floor.seats[name].state == "ready" for name in names), "ready"
        )
        fleet.join(*names)

    def hold(self, group: str, name: str, queue_id: int) -> None:
        """Let a client keep the next message of a queue in hand."""
        self._fleets[group].hold(name, queue_id)

    def resume(self, group: str, name: str) -> None:
        """Let it finish the message in hand."""
        self._fleets[group].resume(name)

    def await_held(self, group: str, name: str) -> None:
        """Return when a client has a message in hand."""
        fleet = self._fleets[group]
        self._await(fleet, lambda floor: floor.seats[name].held is not None, "a message in hand")

    def await_working(self, group: str, queues: int = QUEUES) -> None:
        """Return when the clients of a group work on so many queues."""
        fleet = self._fleets[group]
        self._await(fleet, lambda floor: len(floor.working) == queues, f"{queues} queues worked on")

    def await_one_replaced(self, group: str) -> None:
        """Return when one of several processes of a client id has given way: the elder."""
        fleet = self._fleets[group]

        def replaced(floor: Floor) -> bool:
            return any(seat.state == "replaced" for seat in floor.seats.values())

        self._await(fleet, replaced, "replacement")

    def kill(self, group: str, name: str) -> None:
        """SIGKILL to a client."""
        self._fleets[group].kill(name)

    def designate(self, group: str, client_id: str) -> None:
        """Let nobody but one client of a group consume."""
        rule = RuleSet(group, "designated", (), {"only": [client_id]}, by="test")
        kafka = load_settings(overrides=self._system.settings()).kafka
        write_rules(kafka, [(partition_of_group(group, SHARDS), rule)])

    # The engine.
    def jvm_standing_still(self) -> Standstill:
        """Return a context in which the engine's JVM stands still, and its driver does not."""
        family = family_of(self._system.engine.pid)
        (jvm,) = [
            each.pid for each in family if (PROC / f"{each.pid}/comm").read_text() == "java\n"
        ]
        return Standstill(jvm)

    def kill_engine(self) -> None:
        """SIGKILL to driver and JVM."""
        self._engine_lives = False
        self._system.kill_engine()

    def check(self) -> None:
        """Raise if something has died that was not meant to."""
        assert self._serve.exit_code is None, self._serve.log_tail()
        if self._engine_lives:
            self._system.check()
        for group, fleet in self._fleets.items():
            assert not fleet.failed(), f"{group}: {fleet.log_tail(fleet.failed()[0])}"

    def _queues_named(self) -> Path:
        """Write the one setting that is a list."""
        path = self._plan.folder / "serve.toml"
        path.write_text(f'[serve]\nqueue_series = ["{CALM}"]\n', encoding="utf-8")
        return path

    def _new_fleet(self, group: str) -> Fleet:
        folder = self._plan.folder / group
        folder.mkdir()
        arguments = {
            "bootstrap": self._system.bootstrap,
            "prefix": self._plan.prefix,
            "group": group,
        }
        fleet = self._fleets[group] = Fleet(folder, arguments, self._condition)
        self._stack.callback(fleet.stop)
        return fleet

    def _fill(self) -> None:
        with contextlib.closing(KafkaProducer(bootstrap_servers=self._system.bootstrap)) as sender:
            for number in range(QUEUES * _MESSAGES):
                sender.send(self._plan.source, value=b"%d" % number, partition=number % QUEUES)
            sender.flush()

    def _await(self, fleet: Fleet, holds: Callable[[Floor], bool], what: str) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not fleet.wait_until(holds, _LOOK_SECONDS):
            self.check()
            assert time.monotonic() < deadline, f"no {what}: {fleet.floor}"
