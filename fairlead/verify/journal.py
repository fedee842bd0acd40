"""A consumer's journal on disk: one JSON object per line, handed to the operating system at once.

A line is written with one write(2) before the progress it stands for is reported. What write(2)
took survives the death of the process by any signal (not that of the machine: nobody here asks
for that).
"""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Self

import orjson

from fairlead.verify.history import (
    Consumed,
    Epoch,
    Held,
    Journal,
    JournalRecord,
    Queue,
    Start,
    Stop,
)

_OPENED: Final = "opened"
"""The kind of a first line that says whose the journal is."""


class JournalWriter:
    """Appends records to a journal; safe to call from several threads.

    Time is taken and the line written under one lock, so that the order of the lines is the order
    of their times.
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
            echo: called with each line after it was written.
            client_id: whose it is, if the name of the file does not say it.
        """
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._lock = threading.Lock()
        self._echo = echo
        if client_id is not None:
            opened = {"kind": _OPENED, "client_id": client_id, "pid": os.getpid()}
            os.write(self._descriptor, orjson.dumps(opened) + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def start(self, queue: Queue, epoch: Epoch, offset: int) -> int:
        """The queue is this client's from now on. Returns the time written, in ns."""
        return self._append("start", queue, epoch=list(epoch), offset=offset)

    def held(self, queue: Queue, offset: int) -> int:
        """The message at this offset is in hand. Returns the time written, in ns."""
        return self._append("held", queue, offset=offset)

    def consumed(self, queue: Queue, offset: int, number: int) -> int:
        """The message at this offset is processed. Returns the time written, in ns."""
        return self._append("consumed", queue, offset=offset, number=number)

    def stop(self, queue: Queue, epoch: Epoch, offset: int) -> int:
        """The work on the queue has stopped. Returns the time written, in ns."""
        return self._append("stop", queue, epoch=list(epoch), offset=offset)

    def _append(self, kind: str, queue: Queue, **fields: object) -> int:
        record = {"kind": kind, "queue": list(queue), **fields}
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
    """Read every journal of a folder: the files that end in ``.jsonl``.

    Raises:
        OSError: a file cannot be read.
    """
    return [read_journal(path, path.stem) for path in sorted(folder.glob("*.jsonl"))]


def read_journal(path: Path, client_id: str) -> Journal:
    """Read a journal, also that of a process that was killed while it wrote.

    Args:
        path: its file.
        client_id: whose it is, unless its first line says it.

    Raises:
        OSError: the file cannot be read.
    """
    records: list[JournalRecord] = []
    faults: list[str] = []
    for number, line, complete in _lines(path.read_bytes()):
        try:
            if number == 1 and (opened := _opened(line)) is not None:
                client_id = opened
                continue
            records.append(parse_record(line))
        except (ValueError, KeyError, TypeError) as error:
            if complete:
                faults.append(f"{path.name} line {number}: {error!r}")
    return Journal(client_id, tuple(records), tuple(faults))


def _opened(line: bytes) -> str | None:
    """Return the client id of a journal's first line, if that is what it says."""
    fields = orjson.loads(line)
    return str(fields["client_id"]) if fields["kind"] == _OPENED else None


def _lines(content: bytes) -> Iterator[tuple[int, bytes, bool]]:
    lines = content.split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        yield number, line, True
    if lines[-1]:
        yield len(lines), lines[-1], False


def parse_record(line: bytes) -> JournalRecord:
    """Return the record of one line.

    Raises:
        ValueError: it is no JSON, or of a kind that journals do not have.
        KeyError: a field is missing.
        TypeError: a field has another type or length than it should.
    """
    fields = orjson.loads(line)
    kind = fields["kind"]
    if kind not in _READERS:
        raise ValueError(f"kind {kind!r} is none of {', '.join(_READERS)}")
    return _READERS[kind](fields)


def _queue(fields: Mapping[str, Any]) -> Queue:
    topic, broker_name, queue_id = fields["queue"]
    return Queue(str(topic), str(broker_name), int(queue_id))


def _epoch(fields: Mapping[str, Any]) -> Epoch:
    generation, number = fields["epoch"]
    return Epoch(int(generation), int(number))


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any]], JournalRecord]]] = {
    "start": lambda f: Start(_queue(f), _epoch(f), int(f["offset"]), int(f["t"])),
    "held": lambda f: Held(_queue(f), int(f["offset"]), int(f["t"])),
    "consumed": lambda f: Consumed(_queue(f), int(f["offset"]), int(f["number"]), int(f["t"])),
    "stop": lambda f: Stop(_queue(f), _epoch(f), int(f["offset"]), int(f["t"])),
}
