"""Takes back records that a producer of kafka-python has not sent yet.

By default it holds a record until the delivery timeout, and sends it as soon as the broker answers.
A message that went elsewhere meanwhile would then have a second copy.
"""

from threading import Lock
from typing import Any, Final

from kafka import KafkaProducer
from kafka.errors import KafkaTimeoutError
from kafka.producer.producer_batch import ProducerBatch
from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder

_NO_LIMIT: Final = 2**31 - 1
"""The rest of a batch is never longer than the batch was."""


class Withdrawal:
    """Removes records from a producer's batches just before they leave.

    A batch leaves at its own time without the removed records, or not at all if none is left. A
    record that has left cannot be taken back.
    """

    def __init__(self, producer: KafkaProducer) -> None:
        self._accumulator = producer._accumulator  # noqa: SLF001 - the library has no public way
        self._drain = self._accumulator.drain
        self._accumulator.drain = self._drain_without
        self._lock = Lock()
        self._records: set[Any] = set()

    def take_back(self, sent: Any) -> None:
        """Take a record back; `sent` is the future that the producer's `send` returned."""
        with self._lock:
            if sent.is_done:
                return
            self._records.add(sent)
        sent.add_both(self._forget, sent)

    def _forget(self, sent: Any, *_: object) -> None:
        with self._lock:
            self._records.discard(sent)

    def _drain_without(self, *args: Any, **named: Any) -> Any:
        """Remove records from each partition's first batch, on the producer's thread, and drain."""
        with self._lock:
            records = frozenset(self._records)
        for partition in {sent._produce_future.topic_partition for sent in records}:  # noqa: SLF001
            while self._shrink_first(partition, records):
                pass
        return self._drain(*args, **named)

    def _shrink_first(self, partition: Any, records: frozenset[Any]) -> bool:
        """Remove these records from the partition's first batch; return whether none is left."""
        with self._accumulator._tp_lock(partition):  # noqa: SLF001
            batches = self._accumulator._batches[partition]  # noqa: SLF001
            if not batches:
                return False
            batch = batches[0]
            gone = records.intersection(batch._record_futures)  # noqa: SLF001
            if not gone:
                return False
            batches.popleft()
            batch.records.close()
            error = KafkaTimeoutError("given up before it left")
            is_all = len(gone) == len(batch._record_futures)  # noqa: SLF001
            if not is_all:
                left = self._without(batch, gone)
                batches.appendleft(left)
                self._accumulator._incomplete.add(left)  # noqa: SLF001
        if is_all:
            batch.complete_exceptionally(error, lambda _: error)
        else:
            for sent in gone:
                sent.failure(error)
        self._accumulator.deallocate(batch)
        return is_all

    def _without(self, batch: Any, gone: frozenset[Any]) -> Any:
        """Return a batch with the other records, as kafka-python splits a long batch."""
        config = self._accumulator.config
        version, compression = config["message_version"], config["compression_attrs"]
        builder = MemoryRecordsBuilder(version, compression, _NO_LIMIT)
        left = ProducerBatch(batch.topic_partition, builder)
        left.created, left.last_attempt = batch.created, batch.last_attempt
        records = (record for part in MemoryRecords(batch.records.buffer()) for record in part)
        for sent, record in zip(batch._record_futures, records, strict=True):  # noqa: SLF001
            if sent not in gone:
                made = builder.append(record.timestamp, record.key, record.value, record.headers)
                sent.rebind(left.produce_future, made.offset)
                left._record_futures.append(sent)  # noqa: SLF001
        builder.close()
        return left
