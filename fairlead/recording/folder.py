"""Reads a recording record by record, never a whole file at once."""

import gzip
import os
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairlead.recording.errors import RecordingError
from fairlead.recording.lines import record_of
from fairlead.recording.manifest import Manifest, PartitionFile, read_manifest
from fairlead.recording.regular_files import NotRegularError, open_regular
from fairlead.replay.output_log import Written
from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import OUTPUT_TOPICS

__all__ = ["LINE_BYTES_MAX", "RecordingFolder", "open_recording"]

LINE_BYTES_MAX: Final = 16 * 2**20
"""A longer line is no record: a topic's record has 1 MiB, and its line six times that at most."""
_GROWTH_MAX: Final = 300
"""``fairlead record`` compresses at gzip's fastest, which never shrinks a file by this factor."""
_ALWAYS_BYTES: Final = 16 * 2**20
"""A file of any size may unpack to this size."""

_COMPACTED = ("control", "routes", "offsets")
_NEVER_COMPACTED = ("heartbeats", "releases", "decisions", "requests", "rejects")


@dataclass(frozen=True, slots=True)
class RecordingFolder:
    """A recording on disk. It also has the output topics to compare a replay with."""

    folder: Path
    manifest: Manifest

    def rows(self, suffix: str, number: int) -> Iterator[RawRecord]:
        """Yield the records of a partition by offset.

        Raises:
            RecordingError: the file is missing, damaged, cut off, or contradicts the manifest.
        """
        part = self.manifest.topics[suffix][number]
        path = self.folder / part.file
        last, count = part.first - 1, 0
        for line_number, line in enumerate(_lines(path), 1):
            try:
                row = record_of(line, self.manifest.names.name(suffix), number)
            except (ValueError, KeyError, TypeError) as error:
                detail = f"line {line_number} is no record ({type(error).__name__}: {error})"
                raise RecordingError(path, detail) from error
            if not last < row.offset < part.end:
                detail = f"line {line_number} has the offset {row.offset} behind {last}"
                raise RecordingError(path, f"{detail}; the file ends before {part.end}")
            last, count = row.offset, count + 1
            yield row
        if count != part.records:
            detail = f"it holds {count:,} records, and the manifest says {part.records:,}"
            raise RecordingError(path, detail)

    def newest(self, suffix: str, number: int) -> RawRecord | None:
        """Return the last record of a partition, without parsing others; None: it is empty.

        Raises:
            RecordingError: the file is missing, damaged or cut off, or ends in no record.
        """
        path = self.folder / self.manifest.topics[suffix][number].file
        last = deque(_lines(path), maxlen=1)
        try:
            name = self.manifest.names.name(suffix)
            return record_of(last.pop(), name, number) if last else None
        except (ValueError, KeyError, TypeError) as error:
            detail = f"the last line is no record ({type(error).__name__}: {error})"
            raise RecordingError(path, detail) from error

    def all_rows(self, suffix: str) -> Iterator[RawRecord]:
        """Yield the records of all partitions of a topic, one partition after the other."""
        for number in sorted(self.manifest.topics[suffix]):
            yield from self.rows(suffix, number)

    def part(self, suffix: str, number: int) -> PartitionFile:
        """Return a partition's entry in the manifest."""
        return self.manifest.topics[suffix][number]

    def gaps(self) -> list[str]:
        """Return the partitions that lack records of topics without compaction."""
        names = self.manifest.names
        return [
            f"{names.name(suffix)}/{number}"
            for suffix in _NEVER_COMPACTED
            for number, part in sorted(self.manifest.topics[suffix].items())
            if not part.whole
        ]

    def compacted(self) -> list[str]:
        """Return the partitions of inputs that lack records because of compaction."""
        names = self.manifest.names
        return [
            f"{names.name(suffix)}/{number}"
            for suffix in _COMPACTED
            for number, part in sorted(self.manifest.topics[suffix].items())
            if not part.whole
        ]

    def holds_later(self, suffix: str, number: int, key: bytes | None, offset: int) -> bool:
        """Tell whether a key has a later record, so that compaction may remove earlier ones."""
        return any(row.key == key and row.offset >= offset for row in self.rows(suffix, number))

    def places(self) -> Sequence[tuple[str, int]]:
        """Return every output topic and partition, sorted."""
        names = self.manifest.names
        return sorted(
            (names.name(suffix), number)
            for suffix in OUTPUT_TOPICS
            for number in self.manifest.topics[suffix]
        )

    def records(self, topic: str, partition: int) -> Iterator[Written]:
        """Yield the records of an output partition by offset."""
        suffix = self.manifest.names.suffix(topic)
        assert suffix is not None, "places names our own topics"
        for row in self.rows(suffix, partition):
            yield Written(row.topic, row.partition, row.offset, row.key, row.value)


def open_recording(folder: Path) -> RecordingFolder:
    """Return the recording in a folder.

    Raises:
        RecordingError: there is none.
    """
    return RecordingFolder(folder, read_manifest(folder))


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, within bounds on each line and on the unpacked size."""
    try:
        with open_regular(path) as raw:
            bytes_max = max(_ALWAYS_BYTES, _GROWTH_MAX * os.fstat(raw.fileno()).st_size)
            with gzip.GzipFile(fileobj=raw) as stream:
                unpacked = 0
                while line := stream.readline(LINE_BYTES_MAX + 1):
                    unpacked += len(line)
                    if len(line) > LINE_BYTES_MAX:
                        raise RecordingError(path, f"a line has more than {LINE_BYTES_MAX:,} bytes")
                    if unpacked > bytes_max:
                        detail = f"it unpacks to more than {_GROWTH_MAX} times its size"
                        raise RecordingError(path, detail)
                    yield line
    except FileNotFoundError as error:
        raise RecordingError(path, "the file is missing") from error
    except NotRegularError as error:
        raise RecordingError(path, error.detail) from error
    except EOFError as error:
        raise RecordingError(path, "the file is cut off") from error
    except (gzip.BadGzipFile, zlib.error, OSError) as error:
        raise RecordingError(path, f"the file is damaged ({error})") from error
