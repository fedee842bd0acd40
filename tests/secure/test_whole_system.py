"""A whole system on the secure broker: each process with the rights of its role, and no others."""

import contextlib
import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

import orjson
import pytest
from fairlead_client import (
    ConsumeContext,
    ConsumeResult,
    Message,
    NoRouteError,
    OutgoingMessage,
    Producer,
    PushConsumer,
)
from kafka import KafkaConsumer, TopicPartition

from fairlead.broker.ports import free_ports
from fairlead.kafka.acls import Role
from tests.fixtures.secure_kafka import SecureKafka
from tests.kit.awaiting import LONGEST_SECONDS, await_seen, child_process
from tests.secure.domain import Domain, domain_of

# An engine, a bridge and a view start side by side in it; no single wait is longer than 120 s.
WHOLE_SECONDS: Final = 280
pytestmark = [pytest.mark.broker, pytest.mark.timeout(WHOLE_SECONDS)]

QUEUES: Final = 2
REFUSED: Final = re.compile("uthoriz|lacks a right| lacks |does not have it")
"""What a process says where a right is missing."""
PORTS: Final = {
    Role.ENGINE: "metrics.port",
    Role.READER: "serve.port",
    Role.GATEWAY: "serve.port",
}


class Part:
    """A process of Fairlead, and what it has said."""

    def __init__(self, process: "subprocess.Popen[bytes]", log_file: Path, port: int) -> None:
        self.port = port
        self._process = process
        self._log_file = log_file

    def text(self) -> str:
        """Return its log, after a look whether it runs."""
        told = self._log_file.read_text("utf-8", "replace")
        assert self._process.poll() is None, told[-3_000:]
        return told

    def await_said(self, event: str) -> None:
        """Wait for an event in its log."""
        words = f'"{event}"'
        await_seen(self.text, lambda text: words in text, what=event, seconds=LONGEST_SECONDS)

    def get(self, path: str) -> tuple[int, Any]:
        """Return status and JSON of a path; 0 while nobody answers."""
        self.text()
        place = contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10))
        with place as connection, contextlib.suppress(OSError):
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, orjson.loads(answer.read())
        return 0, None

    def ask(self, method: str, path: str, document: Any) -> tuple[int, Any]:
        """Send JSON, and return status and JSON of the answer."""
        self.text()
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            headers = {"content-type": "application/json"}
            connection.request(method, path, orjson.dumps(document), headers)
            answer = connection.getresponse()
            body = answer.read()
        return answer.status, orjson.loads(body) if body else None

    def end(self) -> None:
        """Let it end in order."""
        self._process.send_signal(signal.SIGTERM)
        assert self._process.wait(LONGEST_SECONDS) == 0


@contextlib.contextmanager
def _part(domain: Domain, role: Role, folder: Path, *command: str) -> Iterator[Part]:
    """Run a command as the user of a role."""
    own = folder / role.name.lower()
    own.mkdir()
    (port,) = free_ports(1)
    settings = domain.overrides(role, own)
    if role in PORTS:
        settings[PORTS[role]] = str(port)
    if role is Role.GATEWAY:
        settings["gateway.enabled"] = "true"
    named = {f"FAIRLEAD__{key.replace('.', '__').upper()}": each for key, each in settings.items()}
    log_file = own / "log"
    words = [sys.executable, "-m", "fairlead", *command]
    with (
        log_file.open("wb") as output,
        child_process(
            words, seconds=WHOLE_SECONDS, env=os.environ | named, stdout=output, stderr=output
        ) as process,
    ):
        yield Part(process, log_file, port)
        process.kill()


@pytest.fixture
def domain(secure_kafka: SecureKafka) -> Iterator[Domain]:
    """A domain of this test's own."""
    with domain_of(secure_kafka, "whole", queues=QUEUES) as made:
        yield made


class Listener:
    """Fails one message once and one for good, and remembers what it was given."""

    def __init__(self) -> None:
        self.consumed: SimpleQueue[Message] = SimpleQueue()

    def __call__(self, messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        """Consume them."""
        (message,) = messages
        if message.value == b"dead" or (message.value == b"again" and "%" not in message.topic):
            context.delay = 1 if message.value == b"again" else -1
            return ConsumeResult.RECONSUME_LATER
        self.consumed.put(message)
        return ConsumeResult.CONSUME_SUCCESS


def _await_route(producer: Producer, topic: str, value: bytes, bridge: Part) -> None:
    """Send a message as soon as the bridge has answered the producer's request for the route."""

    def is_sent() -> bool:
        bridge.text()
        with contextlib.suppress(NoRouteError):
            producer.send(OutgoingMessage(topic, value), timeout_ms=10_000)
            return True
        return False

    await_seen(is_sent, what="route", seconds=LONGEST_SECONDS)


def _committed(domain: Domain) -> int:
    """Return how many messages of the topic the group has committed."""
    with contextlib.closing(domain.broker.admin()) as admin:
        found = admin.list_group_offsets({domain.group: None})[domain.group]
    return sum(each.offset for place, each in found.items() if place.topic == domain.messages)


def _dead(domain: Domain) -> int:
    """Return how many messages are in the group's dead-letter topic."""
    place = TopicPartition(domain.dead_letters, 0)
    with contextlib.closing(KafkaConsumer(bootstrap_servers=domain.broker.plain)) as consumer:
        return int(consumer.end_offsets([place])[place])


def _work_without_kafka(gateway: Part, domain: Domain) -> None:
    """Take the group's queues over HTTP alone, and hand them back."""
    await_seen(lambda: gateway.get("/readyz")[0], (200).__eq__, what="gateway")
    topics = [{"topic": domain.messages}]
    status, joined = gateway.ask(
        "POST", f"/v1/groups/{domain.group}/members", {"client_id": "thin", "topics": topics}
    )
    assert status == 201, joined
    session, state = f"/v1/sessions/{joined['session']}", joined["state"]
    working: dict[int, dict[str, Any]] = {}
    sequence = 0
    while len(working) < QUEUES:
        sequence += 1
        said = {"state": state, "sequence": sequence, "wait_ms": 3_000}
        status, told = gateway.ask(
            "POST", f"{session}/poll", {**said, "working": [*working.values()]}
        )
        assert status == 200, told
        state = told["state"]
        for each in told["start"]:
            name = {key: each[key] for key in ("queue", "epoch")}
            working[each["queue"][2]] = {**name, "position": each["offset"]}
    said = {"state": state, "sequence": sequence + 1, "stopped": [*working.values()]}
    assert gateway.ask("DELETE", session, said) == (204, None)


def test_documented_rights_are_enough_for_a_whole_system(
    domain: Domain, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Messages flow, fail, come back and die; positions are committed; nothing was refused."""
    listener = Listener()
    bridge = ("bridge", "kafka", "--cluster-name", "main", "--poll-ms", "300")
    with (
        _part(domain, Role.ENGINE, tmp_path, "run") as engine,
        _part(domain, Role.BRIDGE, tmp_path, *bridge, "--metrics-port", "0") as carrier,
        _part(domain, Role.READER, tmp_path, "serve") as view,
        _part(domain, Role.GATEWAY, tmp_path, "serve") as gateway,
        Producer(**domain.client(Role.PRODUCER)) as producer,
    ):
        values = [*(b"%d" % number for number in range(20)), b"again", b"dead"]
        _await_route(producer, domain.messages, values[0], carrier)
        for value in values[1:]:
            producer.send(OutgoingMessage(domain.messages, value), timeout_ms=10_000)
        consumer = PushConsumer(
            **domain.client(),
            group=domain.group,
            topics=[domain.messages],
            consume_from="first_offset",
            commit_ms=500,
            listener=listener,
        )
        with consumer:
            for said in ("generation claimed", "engine runs", "decided"):
                engine.await_said(said)
            consumed = [listener.consumed.get(timeout=LONGEST_SECONDS) for _ in values[1:]]
            assert {each.value for each in consumed} == {*values} - {b"dead"}
            (back,) = (each for each in consumed if each.value == b"again")
            assert back.topic == f"%RETRY%{domain.group}"
            await_seen(lambda: _committed(domain), len(values).__eq__, what="commits")
            assert _dead(domain) == 1
            await_seen(
                lambda: view.get(f"/api/v1/groups/{domain.group}"),
                lambda answer: answer[0] == 200 and answer[1]["members"] == 1,
                what="group in the view",
            )
            assert engine.get("/readyz")[0] == view.get("/readyz")[0] == 200
            # A time-out that was tried again may stand there; a right that lacks may not.
            assert REFUSED.search(str(consumer.last_error)) is None
        _work_without_kafka(gateway, domain)
        parts = (view, gateway, carrier, engine)
        told = [part.text() for part in parts]
        for part in parts:
            part.end()
    for text in (*told, caplog.text):
        assert [line for line in text.splitlines() if REFUSED.search(line)] == []
    assert domain.broker.denied(domain.user(role) for role in Role) == []
