"""The clients of examples/ against a real gateway, engine and broker: no overlap, no hole."""

import contextlib
import re
import signal
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fairlead_proof.local.tcp_balancer import TcpBalancer
from kafka import KafkaProducer

from tests.example_programs import environment
from tests.examples.example_clients import (
    LANGUAGES,
    ExampleClient,
    Place,
    build,
)
from tests.examples.example_judge import judged, verified
from tests.kit.awaiting import await_seen
from tests.kit.live_system import BridgedSystem, bridged
from tests.kit.serve_process import Served, serving
from tests.tidy.source_tree import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka

QUEUES = 4
MESSAGES = 3_000
LEASE_MS = 6_000


class Stage:
    """The running system, its gateways, and the clients of one test."""

    def __init__(self, system: BridgedSystem, folder: Path) -> None:
        self._system, self._folder = system, folder
        self._key = folder / "gateway.key"
        self._key.write_text(uuid.uuid4().hex * 2)
        self.environment = environment(print)
        self._clients: dict[str, list[ExampleClient]] = {}
        self._gateway = ""

    @contextlib.contextmanager
    def gateway(self) -> Iterator[Served]:
        """Run one more gateway with the same key."""
        kafka = self._system.settings.kafka
        folder = self._folder / uuid.uuid4().hex[:8]
        folder.mkdir()
        words = {
            "ENABLED": "true",
            "KEY_FILE": self._key,
            "LEASE_MS": LEASE_MS,
            "POLL_MS": LEASE_MS // 3,
        }
        settings = [f"FAIRLEAD__GATEWAY__{name}={value}" for name, value in words.items()]
        with serving(folder, kafka.bootstrap, kafka.topic_prefix, *settings) as served:
            served.wait("/readyz", 200)
            yield served

    def ask_at(self, port: int) -> None:
        """Let the clients of this test ask there."""
        self._gateway = f"http://127.0.0.1:{port}"

    def run(self, language: str, group: str, client_id: str, pace: float = 0.05) -> ExampleClient:
        """Run a client."""
        place = Place(self._gateway, self._system.topic, self._folder, self.environment)
        client = ExampleClient(place, language, group, client_id, pace)
        self._clients.setdefault(group, []).append(client)
        return client

    def end(self) -> None:
        """End what is left of the clients."""
        for clients in self._clients.values():
            for client in clients:
                client.end()
        self._clients.clear()

    def assert_clean(self, group: str, *, repeats: bool = False) -> None:
        """No overlap and no hole; and no message twice, unless somebody lost a lease."""
        clients = self._clients[group]
        verdict = judged(clients)
        assert verdict.overlaps == []
        assert verdict.holes == []
        assert repeats or verdict.repeated == 0
        assert verdict.handovers >= QUEUES // 2
        assert verified(self._system.settings, group, clients, self._folder) == []


@pytest.fixture(scope="module")
def shared(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Stage, Served]]:
    """A system and a gateway for all tests here."""
    folder = tmp_path_factory.mktemp("examples")
    with (
        bridged(
            spark_of_the_run,
            kafka.bootstrap,
            folder,
            queues=QUEUES,
            messages=1,
            group_defaults__lease_ms=LEASE_MS,
            client__heartbeat_ms=LEASE_MS // 3,
        ) as system,
        contextlib.closing(KafkaProducer(bootstrap_servers=kafka.bootstrap)) as producer,
    ):
        for number in range(MESSAGES * QUEUES):
            producer.send(system.topic, b"message", partition=number % QUEUES)
        producer.flush()
        stage = Stage(system, folder)
        for language in LANGUAGES:
            build(language, stage.environment)
        with stage.gateway() as served:
            yield stage, served


@pytest.fixture
def stage(shared: tuple[Stage, Served]) -> Iterator[Stage]:
    """The system; the clients of the test end with it."""
    stage, served = shared
    stage.ask_at(served.port)
    yield stage
    stage.end()


def _groups() -> dict[str, str]:
    """Return a group for each language."""
    return {f"{language}-{uuid.uuid4().hex[:6]}": language for language in LANGUAGES}


def _lost(client: ExampleClient) -> int:
    """Return how many works a client has lost."""
    return [each["event"] for each in client.lines()].count("lost")


def test_clients_of_two_languages_hand_queues_over(stage: Stage) -> None:
    """A second client gets half, and the rest when the first leaves. No message comes twice."""
    after = {"go": "node", "node": "shell", "shell": "go"}
    groups = _groups()
    firsts = {group: stage.run(language, group, "a") for group, language in groups.items()}
    for first in firsts.values():
        first.await_holding(QUEUES)
    seconds = {group: stage.run(after[each], group, "b") for group, each in groups.items()}
    for group, second in seconds.items():
        second.await_holding(QUEUES // 2)
        firsts[group].leave()
    for group, second in seconds.items():
        second.await_holding(QUEUES)
        second.leave()
        stage.assert_clean(group)


def test_a_whole_client_is_short() -> None:
    """Who writes one reads one first: two pages at most."""
    clients = [path for path in (ROOT / "examples").glob("*/client.*") if path.suffix != ".mod"]
    assert len(clients) == len(LANGUAGES)
    assert [path.name for path in clients if len(path.read_bytes().splitlines()) > 120] == []


def test_the_shell_client_is_safe_from_signals() -> None:
    """Bash 5.2 loses a trap while it reads a command or process substitution: none follows it."""
    before, _, after = (ROOT / "examples/shell/client.sh").read_text("utf-8").partition("\ntrap ")
    assert "$(mktemp)" in before
    assert re.findall(r"[$<>]\((?!\().*|`.*`", after) == []


# Two leases have to end, each of them in full.
@pytest.mark.slow
def test_a_lost_lease_and_a_death(stage: Stage) -> None:
    """Who was frozen for longer than its lease says nothing, and joins anew; others take over."""
    groups = _groups()
    frozen = {group: stage.run(language, group, "a") for group, language in groups.items()}
    for client in frozen.values():
        client.await_holding(QUEUES)
    others = {group: stage.run(language, group, "b") for group, language in groups.items()}
    for group, other in others.items():
        other.await_holding(QUEUES // 2)
        frozen[group].freeze()
    for group, other in others.items():
        other.await_holding(QUEUES)
        frozen[group].thaw()
    for group, client in frozen.items():
        await_seen(
            partial(_lost, client),
            lambda lost: lost == QUEUES // 2,
            what="end of the work of the lost lease",
        )
        client.await_holding(QUEUES // 2)
        others[group].kill()
    for group, client in frozen.items():
        client.await_holding(QUEUES)
        client.leave()
        stage.assert_clean(group, repeats=True)


def test_a_gateway_dies_in_mid_handover(stage: Stage, shared: tuple[Stage, Served]) -> None:
    """Clients behind a balancer go on at the other gateway: no queue is lost, none is repeated."""
    group = f"balanced-{uuid.uuid4().hex[:6]}"
    lasting = shared[1]
    with stage.gateway() as victim, TcpBalancer([victim.port, lasting.port]) as balancer:
        stage.ask_at(balancer.port)
        first = stage.run("go", group, "a", pace=1.0)
        first.await_holding(QUEUES)
        others = [stage.run(language, group, language, pace=0.2) for language in ("node", "shell")]
        path = f"/api/v1/groups/{group}"
        await_seen(
            lambda: lasting.get(path)[1],
            lambda text: b'"draining"' in text,
            what="queue that its owner is asked to stop",
        )
        victim.process.send_signal(signal.SIGKILL)
        victim.process.wait(60)
        for client in others:
            client.await_holding(1)
        first.leave()
        for client in others:
            client.await_holding(QUEUES // 2)
        for client in others:
            client.leave()
    assert [client.said() for client in (first, *others) if _lost(client)] == []
    stage.assert_clean(group)
