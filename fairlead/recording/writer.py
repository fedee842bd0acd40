"""Writes a recording: a compressed file per partition, and at the end the manifest."""

import gzip
import os
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import orjson

from fairlead.errors import UsageError
from fairlead.recording.lines import Headers, line_of
from fairlead.recording.manifest import MANIFEST, Manifest, PartitionFile, file_name
from fairlead.wire.raw import RawRecord

__all__ = ["PartitionWriter", "RecordingWriter"]

_LEVEL: Final = 1
"""The gzip level: records are so repetitive that a higher level hardly helps."""


_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600


def _create(path: Path) -> int:
    """Create a file that only its owner may read, and open it for writing."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    return os.open(path, flags, _FILE_MODE)


class PartitionWriter:
    """The file of one partition; the context manager closes it."""

    def __init__(self, path: Path, first: int, end: int) -> None:
        """Create the file.

        Args:
            path: its path.
            first: the first offset that the topic holds.
            end: the offset at which reading ends.
        """
        self._path, self._first, self._end = path, first, end
        self._records = 0
        # Without name and time, equal content compresses to equal bytes.
        self._raw = os.fdopen(_create(path), "wb")
        self._stream = gzip.GzipFile("", "wb", _LEVEL, self._raw, mtime=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file, complete or not."""
        self._stream.close()
        self._raw.close()

    def add(self, record: RawRecord, headers: Headers = ()) -> None:
        """Append a record; offsets must increase."""
        self._stream.write(line_of(record, headers))
        self._records += 1

    @property
    def entry(self) -> PartitionFile:
        """Its entry in the manifest."""
        return PartitionFile(self._path.name, self._first, self._end, self._records)


class RecordingWriter:
    """An unfinished recording, in a folder that it creates."""

    def __init__(self, folder: Path) -> None:
        """Create the folder, which may exist if it is empty; only its owner may read it.

        Topics hold client ids, addresses and operators' texts.

        Raises:
            UsageError: the folder is not empty, or cannot be created.
        """
        self.folder = folder
        self._writers: dict[str, dict[int, PartitionWriter]] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            held = any(folder.iterdir())
            if not held:
                folder.chmod(_FOLDER_MODE)
        except OSError as error:
            raise UsageError(
                f"--to: {folder} is unusable ({error.strerror}).", remedy="Name another folder."
            ) from error
        if held:
            raise UsageError(
                f"--to: {folder} is not empty.", remedy="Name a folder that is new or empty."
            )

    def partition(self, suffix: str, number: int, first: int, end: int) -> PartitionWriter:
        """Begin the file of a partition."""
        path = self.folder / file_name(suffix, number)
        writer = PartitionWriter(path, first, end)
        self._writers.setdefault(suffix, {})[number] = writer
        return writer

    def topics(self) -> dict[str, dict[int, PartitionFile]]:
        """Return the manifest's entries of the files."""
        return {
            suffix: {number: writer.entry for number, writer in writers.items()}
            for suffix, writers in self._writers.items()
        }

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest, which makes the folder a recording."""
        staged = self.folder / f".{MANIFEST}.new"
        with os.fdopen(_create(staged), "wb") as stream:
            stream.write(orjson.dumps(manifest.to_json(), option=orjson.OPT_INDENT_2) + b"\n")
        staged.rename(self.folder / MANIFEST)
