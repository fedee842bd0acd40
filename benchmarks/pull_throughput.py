"""What a push consumer keeps of the speed at which kafka-python alone reads the same partitions.

    python benchmarks/pull_throughput.py --rounds 5 --messages 60000 --check

One broker, one topic, one process. In each round three readers take turns: kafka-python's own
`for records in consumer.poll()`, a PushConsumer whose listener is given batches, and one whose
listener is given one message at a time. All look at every message's body. The clock runs from the
first message to the last. The program prints each reader's median of messages per second, and its
part of the bare one's. Processor seconds stand beside, for a machine where others work too.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Lock
from typing import Any, Final

import orjson
from fairlead_client import ConsumeContext, ConsumeResult, Message, PushConsumer
from fairlead_client.model import Queue
from fairlead_client.transport.partitioner import partition_of
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from kafka.structs import TopicPartition

from fairlead.broker import EmbeddedKafka
from fairlead.kafka.topic_creation import create_topics
from fairlead.kafka.topic_specification import topic_specs
from fairlead.settings import load_settings

PARTITIONS: Final = 4
BODY: Final = b"x" * 1_024
BATCH: Final = 256
THREADS: Final = 4
PREFIX: Final = "bench."
GROUP: Final = "bench"
TOPIC: Final = "pulled"
QUEUES: Final = [Queue(TOPIC, "main", number) for number in range(PARTITIONS)]
WAIT_SECONDS: Final = 120.0
LEAST: Final = {"in batches": 0.80, "one by one": 0.40}
"""Of the bare consumer's speed, at least."""


class Clock:
    """Counts messages; runs from the first to the last."""

    def __init__(self, total: int) -> None:
        self._lock = Lock()
        self._left = total
        self._total = total
        self._begun: tuple[float, float] | None = None
        self.over = Event()
        self.rate = self.processor_rate = 0.0

    def count(self, messages: int) -> None:
        """So many messages were looked at."""
        with self._lock:
            if self._begun is None:
                self._begun = time.perf_counter(), time.process_time()
            self._left -= messages
            if self._left <= 0 and not self.over.is_set():
                wall, processor = self._begun
                self.rate = self._total / (time.perf_counter() - wall)
                self.processor_rate = self._total / (time.process_time() - processor)
                self.over.set()


def bare(bootstrap: str, total: int) -> Clock:
    """Read everything with kafka-python alone."""
    clock = Clock(total)
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        enable_auto_commit=False,
        auto_offset_reset="none",
        metrics_enabled=False,
    )
    partitions = [TopicPartition(TOPIC, number) for number in range(PARTITIONS)]
    consumer.assign(partitions)
    for partition in partitions:
        consumer.seek(partition, 0)
    while not clock.over.is_set():
        for records in consumer.poll(timeout_ms=1_000).values():
            for record in records:
                assert len(record.value) == len(BODY)
            clock.count(len(records))
    consumer.close(autocommit=False)
    return clock


class Granter:
    """Grants queues to a client, as an engine of one generation would."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._producer = KafkaProducer(bootstrap_servers=bootstrap, max_block_ms=10_000)
        self._counts = {
            name: len(self._producer.partitions_for(f"{PREFIX}{name}"))
            for name in ("heartbeats", "assignments")
        }
        claim = {"v": 1, "kind": "generation", "driver": "d", "started_ms": 1, "version": "0"}
        written = self._producer.send(
            f"{PREFIX}generations", orjson.dumps(claim), key=b"1", partition=0
        )
        self._generation = written.get(timeout=WAIT_SECONDS).offset + 1

    def close(self) -> None:
        """Let go of the connection."""
        self._producer.close()

    def grant(self, client_id: str, queues: Sequence[Queue] = QUEUES) -> None:
        """Give a client these queues, from their beginning on."""
        epoch = [self._generation, 1]
        adds = [
            {
                "queue": list(queue),
                "epoch": epoch,
                "position": [0, 0],
                "why": "progress",
                "after": [],
            }
            for queue in queues
        ]
        head = {
            "v": 1,
            "kind": "assignment",
            "group": GROUP,
            "client_id": client_id,
            "incarnation": self._incarnation(client_id),
            "generation": self._generation,
        }
        parts = {"epoch": epoch, "part": 0, "parts": 1, "drop": [], "add": adds}
        whole = {"assigned": [{**add, "state": "held"} for add in adds], "cause": [], "at_ms": 1}
        self._producer.send(
            f"{PREFIX}assignments",
            orjson.dumps({**head, **parts, **whole}),
            key=orjson.dumps([GROUP, client_id, head["incarnation"], 0]),
            partition=partition_of(GROUP + client_id, self._counts["assignments"]),
        ).get(timeout=WAIT_SECONDS)

    def _incarnation(self, client_id: str) -> str:
        consumer = KafkaConsumer(
            bootstrap_servers=self._bootstrap,
            enable_auto_commit=False,
            consumer_timeout_ms=WAIT_SECONDS * 1_000,
        )
        number = partition_of(GROUP, self._counts["heartbeats"])
        partition = TopicPartition(f"{PREFIX}heartbeats", number)
        consumer.assign([partition])
        consumer.seek_to_beginning(partition)
        try:
            for record in consumer:
                beat = orjson.loads(record.value)
                if beat["kind"] == "heartbeat" and beat["client_id"] == client_id:
                    return str(beat["incarnation"])
        finally:
            consumer.close(autocommit=False)
        raise TimeoutError(f"no heartbeat of {client_id}")


def pushed(bootstrap: str, granter: Granter, total: int, size: int, client_id: str) -> Clock:
    """Read everything through a PushConsumer, so many messages at a time."""
    clock = Clock(total)

    def listen(messages: Sequence[Message], context: ConsumeContext) -> ConsumeResult:
        del context
        for message in messages:
            assert len(message.value or b"") == len(BODY)
        clock.count(len(messages))
        return ConsumeResult.CONSUME_SUCCESS

    with PushConsumer(
        bootstrap=bootstrap,
        prefix=PREFIX,
        group=GROUP,
        topics=[TOPIC],
        client_id=client_id,
        listener=listen,
        consume_message_batch_max_size=size,
        consume_threads=THREADS,
        commit_offsets=False,
        # No engine names a successor here.
        hand_over_ms=0,
    ):
        granter.grant(client_id)
        if not clock.over.wait(WAIT_SECONDS):
            raise TimeoutError(f"{client_id} did not get everything")
    return clock


def measured(rounds: int, total: int) -> dict[str, dict[str, float]]:
    """Let the readers take turns; return each one's medians."""
    clocks: dict[str, list[Clock]] = {"bare": [], **{name: [] for name in LEAST}}
    with tempfile.TemporaryDirectory() as folder, EmbeddedKafka(Path(folder)) as kafka:
        bootstrap = kafka.bootstrap
        _fill(bootstrap, total)
        granter = Granter(bootstrap)
        for number in range(rounds + 1):
            readers: dict[str, Callable[[], Clock]] = {
                "bare": lambda: bare(bootstrap, total),
                "in batches": lambda: pushed(bootstrap, granter, total, BATCH, f"b{number}"),  # noqa: B023
                "one by one": lambda: pushed(bootstrap, granter, total, 1, f"o{number}"),  # noqa: B023
            }
            for name, read in readers.items():
                clock = read()
                # The first round warms the broker's pages and the interpreter.
                if number:
                    clocks[name].append(clock)
        granter.close()
    return {
        name: {
            "messages_per_second": statistics.median(clock.rate for clock in taken),
            "messages_per_processor_second": statistics.median(
                clock.processor_rate for clock in taken
            ),
        }
        for name, taken in clocks.items()
    }


def _fill(bootstrap: str, total: int) -> None:
    connection = {"bootstrap_servers": bootstrap, "client_id": "bench"}
    create_topics(connection, PREFIX, topic_specs(load_settings().topics), 1)
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])
    admin.close()
    producer = KafkaProducer(
        bootstrap_servers=bootstrap, linger_ms=20, batch_size=262_144, max_block_ms=10_000
    )
    for number in range(total):
        producer.send(TOPIC, BODY, partition=number % PARTITIONS)
    producer.close()


def main() -> None:
    """Measure, tell, and say by the exit code whether it is enough."""
    parser = argparse.ArgumentParser(description="Throughput of the pull service.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--messages", type=int, default=60_000)
    parser.add_argument("--check", action="store_true", help="exit 1 when it is too slow")
    arguments = parser.parse_args()
    figures: dict[str, Any] = measured(arguments.rounds, arguments.messages)
    enough = True
    for name, least in LEAST.items():
        for unit in ("messages_per_second", "messages_per_processor_second"):
            figures[name][f"part_of_bare_{unit}"] = figures[name][unit] / figures["bare"][unit]
        enough = enough and figures[name]["part_of_bare_messages_per_second"] >= least
    text = {
        name: {unit: round(value, 3) for unit, value in row.items()}
        for name, row in figures.items()
    }
    sys.stdout.write(json.dumps(text | {"least": LEAST, "enough": enough}, indent=2) + "\n")
    if arguments.check and not enough:
        sys.exit(1)


if __name__ == "__main__":
    main()
