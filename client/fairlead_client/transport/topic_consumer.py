"""A consumer of Fairlead's own topics that skips unreadable batches (ADR 0163).

kafka-python never leaves such a batch: the next poll after the error does not return. So this
consumer decodes each batch before the library sees it. It counts and names an unreadable one, and
reads the records beside it. It is not for the application's messages, which must not be skipped.
"""

import logging
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.fetcher import Fetcher
from kafka.errors import KafkaError

PLAIN_BYTES_MAX: Final = 16 * 1024 * 1024
"""The largest decompressed batch. The topics accept batches of 1 MiB."""

_CODECS: Final = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}
_GZIP: Final = 1
_GZIP_WINDOW: Final = 31
"""zlib's number for the largest window and the header of gzip."""
_GZIP_RATIO_MAX: Final = 1_032
_CHUNK_BYTES: Final = 64 * 1024
_MAGIC: Final = 2
"""The format of batches since Kafka 0.11; the library reads older ones."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class UnreadableBatch:
    """A batch of records that cannot be read.

    Attributes:
        topic: the topic's full name.
        partition: the partition's number.
        offset: the offset of the first record.
        end: the offset behind the last record, where reading continues.
        reason: why it is unreadable.
    """

    topic: str
    partition: int
    offset: int
    end: int
    reason: str


class TopicConsumer(KafkaConsumer):  # type: ignore[misc]  # kafka-python has no types
    """kafka-python's consumer for assigned partitions, which skips unreadable batches.

    Args:
        on_unreadable: called once with each skipped batch, on the polling thread.
        options: the keyword arguments of kafka-python's consumer.

    Attributes:
        passed_over: the number of skipped batches.
    """

    def __init__(
        self, *, on_unreadable: Callable[[UnreadableBatch], None] | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self._on_unreadable = on_unreadable
        self._reported: dict[TopicPartition, int] = {}
        self.passed_over = 0
        # The library has no setting for it; a test covers unreadable batches with this version.
        self._fetcher.PartitionRecords = self._open

    def _open(
        self, fetch_offset: int, partition: TopicPartition, records: Any, **how: Any
    ) -> Fetcher.PartitionRecords:
        batches = _ReadableBatches(partition, fetch_offset, records, self._report)
        return Fetcher.PartitionRecords(fetch_offset, partition, batches, **how)

    def _report(self, batch: UnreadableBatch) -> None:
        partition = TopicPartition(batch.topic, batch.partition)
        if batch.offset <= self._reported.get(partition, -1):
            # A seek, or a partly used fetch, brings the batch again.
            return
        self._reported[partition] = batch.offset
        self.passed_over += 1
        self.note_passed_over(batch)
        if self._on_unreadable is not None:
            self._on_unreadable(batch)

    def note_passed_over(self, batch: UnreadableBatch) -> None:
        """Log a skipped batch. The engine's consumer counts it here too."""
        logger.warning(
            "skipped the batch %s-%d@%d, up to offset %d: %s",
            batch.topic,
            batch.partition,
            batch.offset,
            batch.end,
            batch.reason,
        )


class _ReadableBatches:
    """The decoded batches of one fetch; the library uses it instead of its `MemoryRecords`."""

    def __init__(
        self,
        partition: TopicPartition,
        fetch_offset: int,
        records: Any,
        report: Callable[[UnreadableBatch], None],
    ) -> None:
        self._partition = partition
        self._fetch_offset = fetch_offset
        self._records = records
        self._report = report
        self._ahead: Any = None

    def next_batch(self) -> Any:
        """Return the next batch, None after the last; a skipped batch has no records."""
        batch, self._ahead = self._ahead or self._records.next_batch(), None
        if batch is None or batch.magic != _MAGIC:
            return batch
        try:
            return _DecodedBatch(batch, _decoded(batch), batch.next_offset)
        except _UndecodableError as error:
            end = batch.next_offset if error.header_holds else self._end_of(batch)
            self._report(
                UnreadableBatch(
                    self._partition.topic,
                    self._partition.partition,
                    batch.base_offset,
                    end,
                    str(error),
                )
            )
            return _DecodedBatch(batch, [], end)

    def _end_of(self, batch: Any) -> int:
        """Return where to continue behind a batch whose header may be wrong too.

        That is the beginning of the next batch. Without one it is the next offset; the broker sends
        the same batch again until that lies behind it.
        """
        self._ahead = self._records.next_batch()
        if self._ahead is not None and self._ahead.base_offset > batch.base_offset:
            return int(self._ahead.base_offset)
        return max(self._fetch_offset, int(batch.base_offset)) + 1


class _DecodedBatch:
    """A batch for the library: its header, and records that are already decoded."""

    def __init__(self, batch: Any, records: list[Any], next_offset: int) -> None:
        self.magic = batch.magic
        self.base_offset = batch.base_offset
        self.leader_epoch = batch.leader_epoch
        self.last_offset = next_offset - 1
        self.next_offset = next_offset
        self.producer_id = batch.producer_id
        self.is_transactional = batch.is_transactional
        # Without its records it is no control batch.
        self.is_control_batch = bool(batch.is_control_batch and records)
        self._records = iter(records)

    def has_producer_id(self) -> bool:
        """Whether a producer with an id wrote it."""
        return bool(self.producer_id > -1)

    def validate_crc(self) -> bool:
        """Return True, because the checksum was compared before decoding."""
        return True

    def __iter__(self) -> Iterator[Any]:
        return self._records

    def __next__(self) -> Any:
        return next(self._records)


@dataclass
class _UndecodableError(Exception):
    """Why a batch cannot be decoded; `header_holds` if its checksum is right."""

    reason: str
    header_holds: bool = True

    def __str__(self) -> str:
        return self.reason


def _decoded(batch: Any) -> list[Any]:
    """Return a batch's records.

    Raises:
        _UndecodableError: it is unreadable.
    """
    if not batch.validate_crc():
        raise _UndecodableError("its checksum is wrong", header_holds=False)
    codec = batch.compression_type
    if codec > _GZIP:
        name = _CODECS.get(codec, f"number {codec}")
        raise _UndecodableError(f"its codec is {name}; the topics hold plain and gzip batches only")
    try:
        if codec == _GZIP:
            _check_plain_size(memoryview(batch._buffer)[batch._pos :])  # noqa: SLF001 - nowhere else
        return list(batch)
    # The library does not document what its decoder raises for damaged bytes.
    except (KafkaError, OSError, EOFError, ValueError, IndexError, zlib.error) as error:
        raise _UndecodableError(f"it cannot be decoded: {error}") from error


def _check_plain_size(data: memoryview) -> None:
    """Decompress piece by piece without keeping anything, and raise if it is too large."""
    if len(data) * _GZIP_RATIO_MAX <= PLAIN_BYTES_MAX:
        return
    plain, rest = 0, bytes(data)
    while rest:
        stream = zlib.decompressobj(_GZIP_WINDOW)
        while rest and not stream.eof:
            plain += len(stream.decompress(rest, _CHUNK_BYTES))
            rest = stream.unconsumed_tail
            if plain > PLAIN_BYTES_MAX:
                raise _UndecodableError(f"it has more than {PLAIN_BYTES_MAX} bytes decompressed")
        rest = stream.unused_data
