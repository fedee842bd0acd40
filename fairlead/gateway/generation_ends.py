"""Asks the brokers where the generations end: whoever joins must know all of them (rule C1)."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final

import structlog
from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from fairlead.kafka.acls import Role
from fairlead.kafka.connection import client_options
from fairlead.kafka.missing_rights import cluster_error
from fairlead.kafka.topic_reader import consumer_of
from fairlead.settings import KafkaSettings
from fairlead.wire.topics import TopicNames

__all__ = ["GenerationEnds"]

_TIMEOUT_MS: Final = 5_000
_RETRY_S: Final = 0.5

log = structlog.get_logger(__name__)

Asker = Callable[[int | None], None]


class GenerationEnds:
    """Answers on a thread of its own; all that ask at once share one question.

    Args:
        kafka: the cluster.
    """

    def __init__(self, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self._place = TopicPartition(TopicNames(kafka.topic_prefix).name("generations"), 0)
        self._askers: SimpleQueue[Asker | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="generation-ends", daemon=True)
        self._stop = threading.Event()

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Stop."""
        self._stop.set()
        self._askers.put(None)
        self._thread.join()

    async def ask(self) -> int | None:
        """Return the offset of the next generation; None: the brokers do not answer."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[int | None] = loop.create_future()

        def answer(end: int | None) -> None:
            loop.call_soon_threadsafe(_settle, future, end)

        self._askers.put(answer)
        return await future

    def _run(self) -> None:
        consumer: KafkaConsumer | None = None
        while not self._stop.is_set():
            askers = [self._askers.get()]
            while not self._askers.empty():
                askers.append(self._askers.get())
            end, failure = None, None
            try:
                if consumer is None:
                    consumer = consumer_of(self._kafka, "gateway-generations")
                end = consumer.end_offsets([self._place], timeout_ms=_TIMEOUT_MS)[self._place]
            except Exception as error:  # noqa: BLE001 - whoever asks must have an answer
                failure = error
            for asker in askers:
                if asker is not None:
                    asker(end)
            if failure is not None:
                self._tell(failure)
                self._stop.wait(_RETRY_S)
        if consumer is not None:
            with contextlib.suppress(KafkaError):
                consumer.close()

    def _tell(self, failure: Exception) -> None:
        """Log why the brokers do not say it; a missing right is the likeliest cause."""
        if isinstance(failure, KafkaError):
            options, prefix = client_options(self._kafka, "gateway"), self._kafka.topic_prefix
            says = f"{self._place.topic} cannot be read"
            # A file of the connection may be missing while it is replaced.
            with contextlib.suppress(Exception):
                failure = cluster_error(options, says, failure, prefix=prefix, role=Role.GATEWAY)
        log.warning("generations_unknown", reason=str(failure))


def _settle(future: "asyncio.Future[int | None]", end: int | None) -> None:
    if not future.done():
        future.set_result(end)
