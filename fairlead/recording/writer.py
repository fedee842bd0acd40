"""Writes a recording: a compressed file for each partition, and at the end the manifest."""

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
"""Of gzip: records repeat themselves so much that more effort hardly makes them smaller."""


_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600


def _create(path: Path) -> int:
    """Make a file that only its owner may read, and open it to write."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    return os.open(path, flags, _FILE_MODE)


class PartitionWriter:
    """The file of one partition; as a context it is closed at the end."""

    def __init__(self, path: Path, first: int, end: int) -> None:
        """Make the file.

        Args:
            path: where.
            first: the first offset that the topic holds.
            end: the offset at which reading ends.
        """
        self._path, self._first, self._end = path, first, end
        self._records = 0
        # No name and time in the file: what is equal compresses to equal bytes.
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
        """Append a record; they come by offset."""
        self._stream.write(line_of(record, headers))
        self._records += 1

    @property
    def entry(self) -> PartitionFile:
        """What the manifest says of it."""
        return PartitionFile(self._path.name, self._first, self._end, self._records)


class RecordingWriter:
    """A recording in the making, in a folder that it makes."""

    def __init__(self, folder: Path) -> None:
        """Make the folder, which may exist if it is empty; nobody else may look into it.

        Topics hold client ids, addresses and what operators wrote.

        Raises:
            UsageError: it holds something, or cannot be made.
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
                f"--to: {folder} cannot be used ({error.strerror}).", remedy="Name another folder."
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
        """Return what the manifest says of the files."""
        return {
            suffix: {number: writer.entry for number, writer in writers.items()}
            for suffix, writers in self._writers.items()
        }

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest: from here on the folder is a recording."""
        staged = self.folder / f".{MANIFEST}.new"
        with os.fdopen(_create(staged), "wb") as stream:
            stream.write(orjson.dumps(manifest.to_json(), option=orjson.OPT_INDENT_2) + b"\n")
        staged.rename(self.folder / MANIFEST)
