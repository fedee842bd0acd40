"""Clients that live: they heartbeat, obey their records and follow generations, from one thread."""

import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Self, cast

import orjson
from kafka import KafkaConsumer, TopicPartition

from fairlead.settings import KafkaSettings
from tests.kit.awaiting import ended
from tests.kit.client import Client
from tests.kit.kafka_log import WAIT_SECONDS_MAX, Log
from tests.kit.memory_topics import bounds, route

if TYPE_CHECKING:
    from tests.kit.memory_topics import Topics

_BEAT_SECONDS: Final = 1.0


class Fleet:
    """Clients of any groups on the topics of one test; the bridge that answers for them."""

    def __init__(self, kafka: KafkaSettings, queues: int = 4) -> None:
        self._log = Log(kafka)
        self._kafka = kafka
        self._queues = queues
        self._generation = 0
        self._clients: dict[tuple[str, str], Client] = {}
        self._lock = threading.Condition()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._stopped.set()
        ended(self._thread)
        self._log.__exit__(None, None, None)

    def join(self, client_id: str, group: str = "orders", life: int = 1) -> Client:
        """Let a client join; it heartbeats from now on."""
        with self._lock:
            client = Client(cast("Topics", self._log), group, client_id, life, generation=0)
            self._clients[group, client_id] = client
            self._claim()
            client.beat()
        return client

    def await_held(self, client: Client, queues: int) -> None:
        """Wait until a client has read that it may work on so many queues, and on no other.

        Raises:
            TimeoutError: it has not; says what it holds.
        """

        def reads_so() -> bool:
            return [state for _, state in client.held.values()] == ["held"] * queues

        with self._lock:
            if not self._lock.wait_for(reads_so, WAIT_SECONDS_MAX):
                raise TimeoutError(f"{client.client_id} holds {client.held}")

    def work(self, client: Client, written: Mapping[int, int]) -> None:
        """Let a client process what was written, by queue id, to the queues that it holds."""
        with self._lock:
            client.work(0, written)

    def kill(self, client: Client) -> None:
        """Let a client die without a word."""
        with self._lock:
            del self._clients[client.group, client.client_id]

    def leave(self, client: Client) -> None:
        """Let a client leave in order."""
        with self._lock:
            client.leave()
            del self._clients[client.group, client.client_id]

    def _run(self) -> None:
        consumer = KafkaConsumer(bootstrap_servers=self._kafka.bootstrap, enable_auto_commit=False)
        names = self._log.names
        partitions = [
            TopicPartition(names.name(suffix), number)
            for suffix in ("assignments", "generations", "requests")
            for number in sorted(consumer.partitions_for_topic(names.name(suffix)))
        ]
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        beaten = 0.0
        while not self._stopped.is_set():
            batches = consumer.poll(timeout_ms=100)
            with self._lock:
                for partition, records in batches.items():
                    if partition.topic == names.name("generations"):
                        self._generation = records[-1].offset + 1
                        self._claim()
                    elif partition.topic == names.name("requests"):
                        self._answer(record.value for record in records)
                    else:
                        self._obey(record.value for record in records)
                        self._lock.notify_all()
                if batches or time.monotonic() - beaten >= _BEAT_SECONDS:
                    beaten = time.monotonic()
                    for client in self._clients.values():
                        client.beat()
        consumer.close()

    def _answer(self, values: Iterable[bytes]) -> None:
        """Be the bridge: publish what the engine asks for."""
        for value in values:
            asked = orjson.loads(value)
            group, topic = asked["group"], asked["topic"]
            if asked["what"] == "route":
                body, key, suffix = route(topic, self._queues), topic.encode(), "routes"
            else:
                body, suffix = bounds(group, topic, self._queues), "offsets"
                key = orjson.dumps([topic, group])
            self._log.append(suffix, orjson.dumps({"v": 1, **body}), key)

    def _claim(self) -> None:
        for client in self._clients.values():
            if client.generation < self._generation:
                client.claim(self._generation)

    def _obey(self, values: Iterable[bytes | None]) -> None:
        for value in values:
            if value is None:
                continue
            record = orjson.loads(value)
            client = self._clients.get((record["group"], record["client_id"]))
            if client is not None:
                client.read(record)
