"""Java consumers at the real gateway, engine, bridge and broker, with a judge who looks at all."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.java_client.probe import Probe, probe
from tests.kit.awaiting import await_seen
from tools.java_client import JavaClient

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka
    from tests.kit.live_system import BridgedSystem
    from tests.kit.serve_process import Served

pytestmark = [pytest.mark.system, pytest.mark.java]

QUEUES, MESSAGES = 4, 10


class World:
    """A running system, its gateways, and the consumers of a test.

    Attributes:
        read: what the consumers were given: (partition, offset), in order.
        lines: what else each consumer said.
    """

    def __init__(self, system: "BridgedSystem", client: JavaClient, folder: Path) -> None:
        self.system, self._client, self._folder = system, client, folder
        self.stack = ExitStack()
        self.read: list[tuple[int, int]] = []
        self.lines: dict[int, list[list[Any]]] = {}
        self._gateways = 0
        self._key = folder / "key"
        self._key.write_bytes(b"k" * 32)

    def gateway(self) -> "Served":
        """Start a gateway."""
        from tests.kit.serve_process import serving

        kafka = self.system.settings.kafka
        settings = {
            "ENABLED": "true",
            "KEY_FILE": str(self._key),
            "LEASE_MS": "6000",
            "POLL_MS": "1000",
        }
        given = [f"FAIRLEAD__GATEWAY__{name}={value}" for name, value in settings.items()]
        self._gateways += 1
        folder = self._folder / f"gateway-{self._gateways}"
        folder.mkdir()
        served = self.stack.enter_context(
            serving(folder, kafka.bootstrap, kafka.topic_prefix, *given)
        )
        served.wait("/readyz", 200)
        return served

    def consumer(self, group: str, *gateways: "Served") -> Probe:
        """Start a consumer."""
        program = probe(
            self._client,
            "KafkaProbe",
            gateways=[f"http://127.0.0.1:{each.port}" for each in gateways],
            group=group,
            topics=[self.system.topic],
            consume_from="first_offset",
            kafka={"bootstrap.servers": self.system.settings.kafka.bootstrap},
        )
        return self.stack.enter_context(program)

    def poll(self, *consumers: Probe) -> None:
        """Let each consumer poll once, and finish what it had."""
        for consumer in consumers:
            consumer.say("poll", 100)
        for consumer in consumers:
            *others, (_, rows) = consumer.until("poll")
            self.lines.setdefault(id(consumer), []).extend(others)
            self.read += [(row[0], row[1]) for row in rows]

    def said(self, consumer: Probe, kind: str) -> list[int]:
        """Return the partitions about which a consumer has said something."""
        return [line[1] for line in self.lines.get(id(consumer), []) if line[0] == kind]

    def until(self, what: str, wanted: Any, *consumers: Probe) -> None:
        """Let the consumers poll until something is so."""

        def look() -> Any:
            self.poll(*consumers)
            return wanted()

        try:
            await_seen(look, what=what, pause=0)
        except TimeoutError as error:
            for consumer in consumers:
                error.add_note(f"{self.lines.get(id(consumer))} {''.join(consumer.errors)}")
            raise

    def has_read(self, messages: int) -> bool:
        """Whether the consumers have read so many messages of each partition."""
        return len({*self.read}) == QUEUES * messages


@pytest.fixture
def world(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    java_client: JavaClient,
    tmp_path: Path,
) -> Iterator[World]:
    """Have a system with a topic; gateways and consumers end with the test."""
    from tests.kit.live_system import bridged

    with bridged(
        spark_of_the_run, kafka.bootstrap, tmp_path, queues=QUEUES, messages=MESSAGES
    ) as system:
        made = World(system, java_client, tmp_path)
        with made.stack:
            yield made


def all_read(messages: int) -> list[tuple[int, int]]:
    """Return every message of the topic once."""
    return [(queue, offset) for queue in range(QUEUES) for offset in range(messages)]


@pytest.mark.slow
def test_queues_move_without_a_hole_or_a_repetition(world: World) -> None:
    """Clients join and leave, and a gateway is killed: each message is read once, and in order."""
    first, second = world.gateway(), world.gateway()
    one = world.consumer("orders", first, second)
    world.until("all messages", lambda: world.has_read(MESSAGES), one)
    two = world.consumer("orders", first, second)
    world.until("a shared topic", lambda: len(world.said(two, "started")) == QUEUES // 2, one, two)
    assert len(world.said(one, "stopped")) == QUEUES // 2
    first.process.kill()
    for queue in range(QUEUES):
        world.system.write(queue, MESSAGES)
    world.until("more messages", lambda: world.has_read(2 * MESSAGES), one, two)
    # Both polls finish what was in hand, so the leave passes nothing over.
    world.poll(one, two)
    one.ask("close", 20_000)
    for queue in range(QUEUES):
        world.system.write(queue, MESSAGES)
    world.until("the rest", lambda: world.has_read(3 * MESSAGES), two)
    two.ask("close", 20_000)
    assert sorted(world.read) == all_read(3 * MESSAGES)
    assert world.said(one, "lost") == world.said(two, "lost") == []
    assert world.system.broken() == []


@pytest.mark.slow
def test_a_frozen_client_loses_its_queues(world: World) -> None:
    """A client that stands still for longer than its lease gives nothing out when it goes on."""
    gateway = world.gateway()
    one, two = world.consumer("orders", gateway), world.consumer("orders", gateway)
    world.until(
        "a shared topic",
        lambda: (
            len(world.said(one, "started")) - len(world.said(one, "stopped")) == QUEUES // 2
            and len(world.said(two, "started")) - len(world.said(two, "stopped")) == QUEUES // 2
            and world.has_read(MESSAGES)
        ),
        one,
        two,
    )
    world.poll(one, two)
    one.freeze()
    for queue in range(QUEUES):
        world.system.write(queue, MESSAGES)
    world.until("all messages", lambda: world.has_read(2 * MESSAGES), two)
    world.poll(two)
    before = len(world.read)
    one.thaw()
    world.poll(one)
    assert len(world.read) == before
    world.until("the lost queues", lambda: len(world.said(one, "lost")) == QUEUES // 2, one, two)
    world.until(
        "a shared topic again",
        lambda: len(world.said(one, "started")) >= QUEUES,
        one,
        two,
    )
    assert world.system.broken() == []
