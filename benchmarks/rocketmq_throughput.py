"""How fast a Python consumer reads RocketMQ's queues, beside RocketMQ's own consumer in Java.

    python -m benchmarks.rocketmq_throughput --rounds 5 --messages 100000 --check

One broker, one topic of four queues, messages of 1 KiB. In each round three readers take turns:
RocketMQ's DefaultMQPushConsumer in a JVM of its own, and a PushConsumer and a Consumer of this
library. All look at every message's body. The clock runs from the first message to the last. The
program prints each reader's median of messages a second, and of messages a processor second of the
reader, for a machine where others work too.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from os import pathsep
from pathlib import Path
from typing import Final, NamedTuple

from fairlead_client import ConsumeContext, Consumer, ConsumeResult, Message, PushConsumer
from fairlead_client.model import Queue
from fairlead_client.produce.outgoing import OutgoingMessage
from fairlead_client.produce.sender import Accepted
from fairlead_client.produce.target import Target
from fairlead_client.rocketmq.brokers import Brokers
from fairlead_client.rocketmq.rocketmq_sender import RocketMQSender
from fairlead_client.settings.rocketmq_settings import rocketmq_settings

from benchmarks.pull_throughput import BODY, GROUP, PREFIX, TOPIC, Clock, Granter
from fairlead.broker import EmbeddedKafka
from fairlead.embedded_rocketmq import EmbeddedRocketMQ
from fairlead.jars import ensure_jars
from fairlead.java import find_java
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings

BROKER: Final = "broker-a"
QUEUES: Final = [Queue(TOPIC, BROKER, number) for number in range(4)]
THREADS: Final = 4
BATCH: Final = 32
"""The most messages of one call of a listener; a broker sends no more in one answer."""
PROPERTIES: Final = {
    "defaultTopicQueueNums": str(len(QUEUES)),
    # On a busy machine the broker would refuse what waits for longer than 200 ms.
    "waitTimeMillsInSendQueue": "60000",
}
WAIT_SECONDS: Final = 120.0
UNDER_WAY_MAX: Final = 500
GOAL: Final = 20_000
"""Messages a second that are enough, whatever Java reads."""
COUNTING: Final = Path(__file__).parent / "java" / "Counting.java"
BY_JAVA: Final = "DefaultMQPushConsumer"


class Rates(NamedTuple):
    """Messages a second, and messages a processor second of the reader."""

    wall: float
    processor: float


class Clusters(NamedTuple):
    """Where the messages are, and what grants their queues."""

    namesrv: str
    bootstrap: str
    granter: Granter


def by_java(clusters: Clusters, total: int, name: str) -> Rates:
    """Read everything with RocketMQ's own consumer."""
    beside = ensure_jars("rocketmq-server-4").glob("commons-validator-*.jar")
    class_path = pathsep.join(map(str, [*beside, *ensure_jars("rocketmq-5").glob("*.jar")]))
    with tempfile.TemporaryDirectory() as logs:
        command = [
            *(str(find_java().executable), f"-Drocketmq.client.logRoot={logs}"),
            *("-Drocketmq.client.logLevel=ERROR", "-cp", class_path, str(COUNTING)),
            *(clusters.namesrv, name, TOPIC, str(total), str(len(BODY)), str(THREADS)),
            str(BATCH),
        ]
        ran = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, timeout=2 * WAIT_SECONDS
        )
    wall, processor = map(float, ran.stdout.split()[-2:])
    return Rates(wall, processor)


def by_push(clusters: Clusters, total: int, name: str) -> Rates:
    """Read everything with a PushConsumer, in batches."""
    clock = Clock(total)

    def listen(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        del context
        for message in messages:
            assert len(message.value or b"") == len(BODY)
        clock.count(len(messages))
        return ConsumeResult.CONSUME_SUCCESS

    with PushConsumer(
        bootstrap=clusters.bootstrap,
        data_plane="rocketmq",
        namesrv=clusters.namesrv,
        prefix=PREFIX,
        group=GROUP,
        topics=[TOPIC],
        client_id=name,
        listener=listen,
        consume_message_batch_max_size=BATCH,
        consume_threads=THREADS,
        commit_offsets=False,
        # No engine names a successor here.
        hand_over_ms=0,
    ):
        clusters.granter.grant(name, QUEUES)
        if not clock.over.wait(WAIT_SECONDS):
            raise TimeoutError(f"{name} did not get everything")
    return Rates(clock.rate, clock.processor_rate)


def by_consumer(clusters: Clusters, total: int, name: str) -> Rates:
    """Read everything with a Consumer, message by message."""
    clock = Clock(total)
    with Consumer(
        bootstrap=clusters.bootstrap,
        data_plane="rocketmq",
        namesrv=clusters.namesrv,
        prefix=PREFIX,
        group=GROUP,
        topics=[TOPIC],
        client_id=name,
        commit_offsets=False,
    ) as consumer:
        clusters.granter.grant(name, QUEUES)
        ends = time.monotonic() + WAIT_SECONDS
        while not clock.over.is_set():
            message = consumer.poll()
            if message is not None:
                assert len(message.value or b"") == len(BODY)
                clock.count(1)
            elif time.monotonic() > ends:
                raise TimeoutError(f"{name} did not get everything")
    return Rates(clock.rate, clock.processor_rate)


READERS: Final[dict[str, Callable[[Clusters, int, str], Rates]]] = {
    BY_JAVA: by_java,
    "PushConsumer, in batches": by_push,
    "Consumer, one by one": by_consumer,
}
CHECKED: Final = "PushConsumer, in batches"


def measured(rounds: int, total: int) -> dict[str, dict[str, float]]:
    """Let the readers take turns; return each one's medians."""
    taken: dict[str, list[Rates]] = {name: [] for name in READERS}
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedKafka(Path(folder) / "kafka") as kafka,
        EmbeddedRocketMQ(Path(folder) / "rocketmq", properties=PROPERTIES) as cluster,
    ):
        connection = {"bootstrap_servers": kafka.bootstrap, "client_id": "bench"}
        create_topics(connection, PREFIX, topic_specs(load_settings().topics), 1)
        _fill(cluster.namesrv, total)
        clusters = Clusters(cluster.namesrv, kafka.bootstrap, Granter(kafka.bootstrap))
        for number in range(rounds + 1):
            for at, (name, read) in enumerate(READERS.items()):
                rates = read(clusters, total, f"bench-{at}-{number}")
                # The first round warms the broker's pages and the interpreter.
                if number:
                    taken[name].append(rates)
        clusters.granter.close()
    return {
        name: {
            "messages_per_second": statistics.median(each.wall for each in rates),
            "messages_per_processor_second": statistics.median(each.processor for each in rates),
            "rounds": len(rates),
        }
        for name, rates in taken.items()
    }


def _fill(namesrv: str, total: int) -> None:
    """Write the messages, evenly into all queues; the broker creates the topic."""
    brokers = Brokers(rocketmq_settings(namesrv, {}))
    brokers.route("TBW102")
    sender = RocketMQSender(brokers, GROUP, creates=True)
    message = OutgoingMessage(TOPIC, BODY)
    under_way: deque[Future[Accepted]] = deque()
    for number in range(total):
        target = Target(QUEUES[number % len(QUEUES)], BROKER)
        under_way.append(sender.send(target, message, 3_000))
        if number == 0 or len(under_way) > UNDER_WAY_MAX:
            under_way.popleft().result(WAIT_SECONDS)
    for each in under_way:
        each.result(WAIT_SECONDS)
    sender.close(0)


def main() -> None:
    """Measure, tell, and say by the exit code whether it is enough."""
    parser = argparse.ArgumentParser(description="Throughput of consumers on RocketMQ's queues.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--check", action="store_true", help="exit 1 when it is too slow")
    arguments = parser.parse_args()
    figures = measured(arguments.rounds, arguments.messages)
    unit = "messages_per_second"
    least = min(GOAL, figures[BY_JAVA][unit])
    enough = figures[CHECKED][unit] >= least
    text = {
        name: {unit: round(value) for unit, value in row.items()} for name, row in figures.items()
    }
    answer = text | {"least": round(least), "enough": enough}
    sys.stdout.write(json.dumps(answer, indent=2) + "\n")
    if arguments.check and not enough:
        sys.exit(1)


if __name__ == "__main__":
    main()
