"""A consumer's journal on disk: one JSON object per line, handed to the operating system at once.

The client writes each line with one write(2), before it reports the progress. What write(2) took
survives the death of the process by any signal, though not the death of the machine.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import orjson

from fairlead.core.model import Epoch, MessageQueue
from fairlead.errors import UsageError
from fairlead.recording.regular_files import read_regular
from fairlead.verify.history import (
    Committed,
    Consumed,
    Failed,
    Held,
    Journal,
    JournalRecord,
    Passed,
    Start,
    Stop,
)
from fairlead.verify.line_fields import LINE_BYTES_MAX, LineError, LineFields, fields_of

__all__ = ["JournalWriter", "parse_record", "read_journal", "read_journals"]

_OPENED: Final = "opened"
"""The kind of the first line, which names the journal's client."""


class JournalWriter:
    """Appends records to a journal; safe to call from several threads.

    It reads the time and writes the line under one lock, so lines are in the order of their times.
    """

    def __init__(
        self,
        path: Path,
        echo: Callable[[bytes], None] | None = None,
        client_id: str | None = None,
    ) -> None:
        """Open the journal, which may exist.

        Args:
            path: its file.
            echo: called with each line after the write.
            client_id: whose it is, if the file's name does not say it.
        """
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._lock = threading.Lock()
        self._echo = echo
        if client_id is not None:
            opened = {"kind": _OPENED, "client_id": client_id, "pid": os.getpid()}
            self._write(opened)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def start(self, queue: MessageQueue, epoch: Epoch, offset: int) -> int:
        """Write that the queue is this client's from now on. Return the time, in ns."""
        return self._append("start", queue, epoch=list(epoch), offset=offset)

    def held(self, queue: MessageQueue, offset: int, count: int = 1) -> int:
        """Write that a message, or a batch from it on, is in hand. Return the time, in ns."""
        batch = {} if count == 1 else {"count": count}
        return self._append("held", queue, offset=offset, **batch)

    def consumed(self, queue: MessageQueue, offset: int, number: int) -> int:
        """Write that the message at this offset is processed. Return the time, in ns."""
        return self._append("consumed", queue, offset=offset, number=number)

    def failed(self, queue: MessageQueue, offset: int) -> int:
        """Write that a message in hand failed and comes again. Return the time, in ns."""
        return self._append("failed", queue, offset=offset)

    def passed(self, queue: MessageQueue, offset: int, count: int, why: str) -> int:
        """Write that the client skips ``count`` offsets, and why. Return the time, in ns."""
        return self._append("passed", queue, offset=offset, count=count, why=why)

    def committed(self, queue: MessageQueue, offset: int) -> int:
        """Write that the application committed everything below. Return the time, in ns."""
        return self._append("committed", queue, offset=offset)

    def stop(self, queue: MessageQueue, epoch: Epoch, offset: int) -> int:
        """Write that the work on the queue has stopped. Return the time, in ns."""
        return self._append("stop", queue, epoch=list(epoch), offset=offset)

    def _append(self, kind: str, queue: MessageQueue, **fields: object) -> int:
        return self._write({"kind": kind, "queue": list(queue), **fields})

    def _write(self, record: Mapping[str, object]) -> int:
        with self._lock:
            t_ns = time.monotonic_ns()
            line = orjson.dumps({**record, "t": t_ns}) + b"\n"
            written = os.write(self._descriptor, line)
            if self._echo is not None:
                self._echo(line)
        if written != len(line):
            raise OSError(f"journal: {written} of {len(line)} bytes written; is the disk full?")
        return t_ns


def read_journals(folder: Path) -> list[Journal]:
    """Read every journal of a folder: the files that end in ``.jsonl``, one for each process.

    Raises:
        OSError: a file cannot be read.
        UsageError: a file is no journal, or has an unreadable line.
    """
    journals = [
        journal for path in sorted(folder.glob("*.jsonl")) for journal in read_journal(path)
    ]
    faults = [fault for journal in journals for fault in journal.faults]
    if faults:
        more = f" In all {len(faults)} lines are unreadable." if len(faults) > 1 else ""
        raise UsageError(
            f"--journals: {folder}/{faults[0]}.{more}",
            remedy="Correct the line (docs/journals.md): the judge needs every line readable.",
        )
    return journals


def read_journal(path: Path) -> list[Journal]:
    """Read a file: the journals of its processes, one after the other.

    Each begins with a line of kind ``opened``. A file without such a line is of one process, and
    its name is the client id. A kill may cut off the last line of a process.

    Raises:
        OSError: the file cannot be read.
        UsageError: it is no regular file.
    """
    readings: list[_Reading] = []
    for number, line, complete in _lines(read_regular(path)):
        try:
            fields = fields_of(line)
            if fields.kind((_OPENED, *_READERS)) == _OPENED:
                readings.append(_Reading(*_opened(fields)))
                continue
            readings = readings or [_Reading(path.stem)]
            readings[-1].records.append(_record(fields))
        except LineError as error:
            readings = readings or [_Reading(path.stem)]
            next_one = _opened_behind(line)
            torn = not complete and not _is_whole(line)
            readings[-1].cut_off = next_one is not None or torn
            if next_one is not None:
                readings.append(next_one)
            elif not torn:
                readings[-1].faults.append(f"{path.name} line {number}: {error}")
    return [each.journal() for each in readings or [_Reading(path.stem)]]


@dataclass(slots=True)
class _Reading:
    """The journal of one process as it is read."""

    client_id: str
    pid: int | None = None
    opened_ns: int | None = None
    records: list[JournalRecord] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    cut_off: bool = False

    def journal(self) -> Journal:
        records, faults = tuple(self.records), tuple(self.faults)
        return Journal(
            self.client_id, records, faults, self.pid, self.opened_ns, cut_off=self.cut_off
        )


def _is_whole(line: bytes) -> bool:
    """Tell whether a line without a line feed holds a complete object."""
    try:
        fields_of(line)
    except LineError:
        return False
    return True


def _opened_behind(line: bytes) -> _Reading | None:
    """Return the process whose first line follows a cut-off line without a line feed; None: none.

    A process that is killed while it writes leaves no line feed, and the next process of the file
    writes on. Its line may hold further braces, so the search tries each brace.
    """
    if not line.startswith(b"{"):
        return None
    begin = line.find(b"{", max(1, len(line) - LINE_BYTES_MAX))
    while begin > 0:
        try:
            fields = fields_of(line[begin:])
            fields.kind((_OPENED,))
            return _Reading(*_opened(fields))
        except LineError:
            begin = line.find(b"{", begin + 1)
    return None


def _opened(fields: LineFields) -> tuple[str, int | None, int | None]:
    return fields.text("client_id"), fields.optional_integer("pid"), fields.optional_integer("t")


def _lines(content: bytes) -> Iterator[tuple[int, bytes, bool]]:
    lines = content.split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        yield number, line, True
    if lines[-1]:
        yield len(lines), lines[-1], False


def parse_record(line: bytes) -> JournalRecord:
    """Return the record of one line.

    Raises:
        LineError: journals have no line of this kind, or a field is missing or wrong.
    """
    return _record(fields_of(line))


def _record(fields: LineFields) -> JournalRecord:
    return _READERS[fields.kind(_READERS)](fields)


def _offset(f: LineFields) -> int:
    return f.integer("offset")


def _t(f: LineFields) -> int:
    return f.integer("t")


def _count(f: LineFields) -> int:
    return f.integer("count", least=1, default=1)


_READERS: Final[Mapping[str, Callable[[LineFields], JournalRecord]]] = {
    "start": lambda f: Start(f.queue(), f.epoch(), _offset(f), _t(f)),
    "held": lambda f: Held(f.queue(), _offset(f), _t(f), _count(f)),
    "consumed": lambda f: Consumed(f.queue(), _offset(f), f.integer("number"), _t(f)),
    "failed": lambda f: Failed(f.queue(), _offset(f), _t(f)),
    "passed": lambda f: Passed(f.queue(), _offset(f), _count(f), f.text("why"), _t(f)),
    "committed": lambda f: Committed(f.queue(), _offset(f), _t(f)),
    "stop": lambda f: Stop(f.queue(), f.epoch(), _offset(f), _t(f)),
}
