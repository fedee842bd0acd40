"""Consumers of RocketMQ that the real engine balances: topic, producer, members, and the judge."""

import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson
from fairlead_client.produce.send_error import SendingError
from fairlead_proof.local.child import Killing
from typer.testing import CliRunner

from fairlead.bridges.rocketmq.bridge import RocketMQBridge, RocketMQBridgeTimes
from fairlead.cli.main import app
from fairlead.verify.journal import read_journals
from tests.kit.awaiting import LONGEST_SECONDS, await_seen, ended
from tests.kit.bridge import running
from tests.kit.gateway_server import gateway_serving
from tests.kit.live_system import live_system
from tests.kit.rocketmq_topic import RocketMQTopic
from tests.rocketmq_java.consumer import JavaConsumer, Program, java_consumer
from tests.rocketmq_java.moves import Journal, calls_in
from tools.rocketmq_java import RocketMQJava

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

__all__ = ["LEASE_MS", "BalancedGroup", "Engine", "engine"]

LEASE_MS: Final = 4_000
_PAUSE_SECONDS: Final = 0.01


class Engine(NamedTuple):
    """The running engine, its gateway, and RocketMQ."""

    bootstrap: str
    prefix: str
    gateway: str
    cluster: "EmbeddedRocketMQ"


@contextmanager
def engine(
    spark: "SparkSession", bootstrap: str, cluster: "EmbeddedRocketMQ", folder: Path
) -> Iterator[Engine]:
    """Run the job, a gateway, and the bridge of RocketMQ."""
    with ExitStack() as stack:
        system = stack.enter_context(live_system(spark, bootstrap, folder, bridged=False))
        kafka = system.settings.kafka
        bridge = RocketMQBridge(
            control_bootstrap=kafka.bootstrap,
            namesrv=cluster.namesrv,
            cluster_name=None,
            prefix=kafka.topic_prefix,
            times=RocketMQBridgeTimes(poll_ms=500),
        )
        stack.enter_context(running(bridge))
        times = {"gateway__lease_ms": LEASE_MS, "gateway__poll_ms": LEASE_MS // 4}
        gateway = stack.enter_context(gateway_serving(kafka.bootstrap, kafka.topic_prefix, **times))
        yield Engine(kafka.bootstrap, kafka.topic_prefix, gateway, cluster)


class BalancedGroup:
    """A topic to which somebody writes, and the group that reads it."""

    def __init__(
        self, place: Engine, java: RocketMQJava, folder: Path, queues: int = 2, **flags: Any
    ) -> None:
        self.topic = RocketMQTopic(place.cluster, f"orders-{uuid.uuid4().hex[:8]}", queues)
        self.name = f"g-{self.topic.name}"
        self._place, self._java, self._folder, self._flags = place, java, folder, flags
        self._journals = folder / "journals"
        self._journals.mkdir()
        self._faults: list[dict[str, Any]] = []
        self.stack = ExitStack()
        self.written = 0
        self._stop = threading.Event()
        self._producer = threading.Thread(target=self._write, daemon=True)

    def begin_to_write(self) -> None:
        """Write numbered messages from now on."""
        self._producer.start()

    def end_writing(self) -> int:
        """Write no more; return how many were written."""
        self._stop.set()
        ended(self._producer)
        return self.written

    def member(
        self, client_id: str, *, program: Program | None = None, **flags: Any
    ) -> JavaConsumer:
        """Let a member join; return when its consumer has started."""
        place = {"group": self.name, "topic": self.topic.name, "gateway": self._place.gateway}
        given = {**place, "namesrv": self._place.cluster.namesrv, **self._flags, **flags}
        consumer = self.stack.enter_context(
            java_consumer(program or self._java, self._journals, client_id, **given)
        )
        consumer.join()
        return consumer

    def note_kill(self, member: JavaConsumer, killing: Killing) -> None:
        """Note in the fault log that a member was killed."""
        who = {"client_id": member.client_id, "pid": member.child.pid}
        times = {"sent": killing.sent_ns, "dead": killing.dead_ns}
        self._faults.append({"kind": "client_killed", **who, **times})

    def note_freeze(self, member: JavaConsumer, begin_ns: int, end_ns: int) -> None:
        """Note that every thread of a member stood still."""
        who = {"client_id": member.client_id, "pid": member.child.pid}
        self._faults.append({"kind": "client_frozen", **who, "begin": begin_ns, "end": end_ns})

    def owners(self) -> dict[str, int]:
        """Return how many queues of the topic each client works on, by the journals."""
        counts: dict[str, int] = {}
        for line in self.lines():
            if line["kind"] in ("start", "stop") and line["queue"][0] == self.topic.name:
                step = 1 if line["kind"] == "start" else -1
                counts[line["client_id"]] = counts.get(line["client_id"], 0) + step
        return {client_id: count for client_id, count in counts.items() if count}

    def await_owners(self, **wanted: int) -> None:
        """Wait until these clients work on so many queues, and nobody else on any."""
        await_seen(
            self.owners,
            lambda seen: seen == wanted,
            what=f"owners {wanted}",
            seconds=LONGEST_SECONDS,
        )

    def processed(self) -> list[int]:
        """Return the numbers of the processed messages."""
        return [line["number"] for line in self.lines() if line["kind"] == "consumed"]

    def calls(self) -> list[Journal]:
        """Return the calls of the listeners, for each broker."""
        brokers = sorted({queue.broker_name for queue in self.topic.queues})
        return [calls_in(self._journals, self.topic.name, broker) for broker in brokers]

    def lines(self) -> list[dict[str, Any]]:
        """Return all whole lines of the journals, each with its client."""
        return [
            {**orjson.loads(line), "client_id": path.stem}
            for path in sorted(self._journals.glob("*.jsonl"))
            for line in path.read_bytes().splitlines(keepends=True)
            if line.endswith(b"\n")
        ]

    def judgement(self) -> Any:
        """Return what `fairlead verify` says of topics and journals."""
        assert read_journals(self._journals)
        faults = self._folder / "faults.jsonl"
        faults.write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in self._faults))
        place = ("--bootstrap", self._place.bootstrap, "--topic-prefix", self._place.prefix)
        journals = ("--journals", str(self._journals), "--faults", str(faults))
        ended_run = CliRunner().invoke(
            app, ["verify", *place, *journals, "--group", self.name, "-o", "json"]
        )
        return orjson.loads(ended_run.stdout)

    def close(self) -> None:
        """End whatever runs."""
        self._stop.set()
        self.stack.close()
        if self._producer.is_alive():
            ended(self._producer)
        self.topic.close()

    def _write(self) -> None:
        while not self._stop.wait(_PAUSE_SECONDS):
            queue = self.topic.queues[self.written % len(self.topic.queues)]
            # A broker that is busy refuses a message and has not stored it.
            with suppress(SendingError):
                self.topic.send(queue, [str(self.written).encode()])
                self.written += 1
