"""Checks without Spark whether a checkpoint is intact: at a start, and after a query has died.

It checks only the files that Spark reads when it starts. What Spark can do without or repairs by
itself does not refuse a start: temporary files of a killed process, old batches, a snapshot whose
changes are still there, a missing checksum file, a missing last commit (Spark runs that batch
again, with the same output).

It cannot detect wrong content in a state file without a checksum. Spark notices that in its first
batch.
"""

import json
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from uuid import UUID

from fairlead.errors import FairleadError, RefusedError
from streaming.checkpoint import Checkpoint
from streaming.damage import DamagedError, not_permitted

__all__ = ["inspect", "refusal_of"]

_SUM_HEADER: Final = b"crc\0"
_SUM_BYTES: Final = 4
_CHUNK_BYTES_MAX: Final = 1 << 20
"""A file with more bytes per checksum is wrong; Java would allocate that much memory."""
_CHUNKS_AT_ONCE: Final = 2_048
_STATE_FILE: Final = re.compile(r"([0-9]+)\.(delta|snapshot)")


class _Problem(Exception):  # noqa: N818 - the caller, who knows the folder, makes an error of it
    """What is wrong with a file."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path} {what}")
        self.path = path
        self.what = what


def refusal_of(checkpoint: Checkpoint) -> FairleadError | None:
    """Return the error that refuses a start on this checkpoint; None if nothing is wrong."""
    try:
        inspect(checkpoint)
    except RefusedError as error:
        return error
    return None


def inspect(checkpoint: Checkpoint) -> None:
    """Check everything that a start reads of a checkpoint.

    Raises:
        DamagedError: a file is missing or changed; the message names the first one.
        RefusedError: this user may not read or write it.
    """
    try:
        _check_rights(checkpoint)
        if checkpoint.has_state():
            _check_state(checkpoint)
    except _Problem as problem:
        raise DamagedError(checkpoint.folder, problem.path, problem.what) from problem
    except PermissionError as error:
        path = Path(str(error.filename or checkpoint.folder))
        raise not_permitted(checkpoint.folder, path, "read") from error


def _check_rights(checkpoint: Checkpoint) -> None:
    """Check that this user may write the files that Spark writes in each batch."""
    query = checkpoint.query
    folders = [checkpoint.folder, query, query / "offsets", query / "commits", *_stores(query)]
    files = [checkpoint.jvm_lock]
    for path in (*folders, *files):
        needed = os.W_OK if path in files else os.W_OK | os.X_OK
        # The operating system checks the effective user when a file is opened.
        if path.exists() and not os.access(path, needed, effective_ids=True):
            raise not_permitted(checkpoint.folder, path, "written")


def _stores(query: Path) -> list[Path]:
    """Return the folder of each partition of the state."""
    return sorted((query / "state").glob("[0-9]*/[0-9]*"))


def _check_state(checkpoint: Checkpoint) -> None:
    query = checkpoint.query
    layout = checkpoint.stored_layout()
    if layout is None:
        raise _Problem(checkpoint.folder / "layout.json", "is missing, so the layout is unknown")
    _check_id(query / "metadata")
    commit, planned = checkpoint.newest_commit(), checkpoint.newest_plan()
    assert commit is not None
    _check_document(query / "commits" / str(commit), lines_min=1)
    # Spark's start reads the newest plan and the one before; ours also that of the last commit.
    newest = max(commit, planned or 0)
    for batch in sorted({commit, newest, max(0, newest - 1)}):
        _check_document(query / "offsets" / str(batch), lines_min=3)
    for partition in range(layout.shuffle_partitions):
        store = query / "state" / "0" / str(partition)
        _check_schema(store / "_metadata" / "schema")
        _check_store(store, commit + 1)


def _check_id(path: Path) -> None:
    """Check the file that holds the query's id."""
    text = _text(path)
    try:
        UUID(json.loads(text)["id"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _Problem(path, f"is not what Spark has written ({error})") from error


def _check_document(path: Path, lines_min: int) -> None:
    """Check a file of a batch: a line with a version, and lines of JSON."""
    version, *lines = _text(path).rstrip("\n").split("\n")
    if not re.fullmatch(r"v[0-9]+", version) or len(lines) + 1 < lines_min:
        raise _Problem(path, "is cut off or is not Spark's file")
    for line in lines:
        try:
            json.loads(line)
        except ValueError as error:
            raise _Problem(path, f"is not what Spark has written ({error})") from error


def _check_schema(path: Path) -> None:
    """Check the schema of the state's rows; Spark writes a new file if it is missing."""
    if path.exists():
        _check_file(path)


def _check_store(store: Path, version: int) -> None:
    """Check that Spark can build one partition of the state at a version.

    It needs a snapshot and all changes since, or all changes from the first on. Spark uses the
    newest snapshot, or an older one if it cannot read that.
    """
    names = [path.name for path in store.iterdir()] if store.is_dir() else []
    shown = [name for name in names if not name.startswith((".", "_"))]
    if shown and not any(_STATE_FILE.fullmatch(name) for name in shown):
        return  # another kind of store, set in [engine.spark]: it has its own checks
    first: _Problem | None = None
    while version > 0:
        if f"{version}.snapshot" in names:
            try:
                _check_file(store / f"{version}.snapshot")
            except _Problem as problem:
                first = first or problem
            else:
                return
        try:
            _check_file(store / f"{version}.delta")
        except _Problem as problem:
            raise first or problem from problem
        version -= 1


def _text(path: Path) -> str:
    _check_file(path)
    try:
        return path.read_text(encoding="utf-8")
    except ValueError as error:
        raise _Problem(path, f"is not what Spark has written ({error})") from error


def _check_file(path: Path) -> None:
    """Check that a file exists, is not empty, and matches its checksum."""
    sums_path = path.with_name(f".{path.name}.crc")
    try:
        if path.stat().st_size == 0:
            raise _Problem(path, "is empty")
        sums = _sums(sums_path)
        if sums is None:
            return
        size, expected = sums
        if size == 0 or size > _CHUNK_BYTES_MAX:
            raise _Problem(sums_path, "is not a checkpoint's checksum file")
        if b"".join(_found_sums(path, size)) != expected:
            raise _Problem(path, "is cut off or changed: it does not match its checksum")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _Problem(path, "is missing") from error
    except PermissionError:
        raise
    except OSError as error:
        raise _Problem(path, f"cannot be read ({error.strerror})") from error


def _sums(path: Path) -> tuple[int, bytes] | None:
    """Return the bytes per checksum, and the checksums, of one of Hadoop's checksum files.

    None: there is no such file, or its first bytes are not its magic; Hadoop then checks nothing.
    """
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    start = len(_SUM_HEADER) + _SUM_BYTES
    if len(content) < start or not content.startswith(_SUM_HEADER):
        return None
    return int.from_bytes(content[len(_SUM_HEADER) : start], "big"), content[start:]


def _found_sums(path: Path, size: int) -> Iterator[bytes]:
    """Yield the checksum of each part of a file; ``size`` is the bytes per part."""
    with path.open("rb") as handle:
        for block in iter(lambda: handle.read(size * _CHUNKS_AT_ONCE), b""):
            parts = (block[at : at + size] for at in range(0, len(block), size))
            yield from (zlib.crc32(part).to_bytes(_SUM_BYTES, "big") for part in parts)
