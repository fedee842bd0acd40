"""The fault log of a run, as JSON lines: kills, steps, and faults with begin and end."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from fairlead.errors import UsageError
from fairlead.recording.regular_files import read_regular
from fairlead.verify.history import (
    ClientFrozen,
    ClientKilled,
    Closing,
    EngineKilled,
    Fault,
    StepBegun,
    StepRecord,
)
from fairlead.verify.line_fields import LineError, LineFields, fields_of

__all__ = ["read_faults", "step_of", "write_faults"]


def write_faults(path: Path, records: Iterable[StepRecord]) -> None:
    """Write a log; times are CLOCK_MONOTONIC in nanoseconds, as in journals."""
    path.write_bytes(b"".join(orjson.dumps(_plain(record)) + b"\n" for record in records))


def read_faults(path: Path) -> list[StepRecord]:
    """Return the records of a log.

    Raises:
        UsageError: the file is unreadable, or a line does not belong in a fault log.
    """
    try:
        lines = read_regular(path).splitlines()
    except OSError as error:
        raise UsageError(
            f"--faults: {path} cannot be read ({error.strerror}).", remedy="Name the fault log."
        ) from error
    records = []
    for number, line in enumerate(lines, 1):
        try:
            records.append(step_of(fields_of(line)))
        except LineError as error:
            raise UsageError(
                f"--faults: {path}, line {number}: {error}.",
                remedy="See docs/journals.md for what a fault log holds.",
            ) from error
    return records


def _plain(record: StepRecord) -> dict[str, Any]:
    match record:
        case StepBegun():
            return {"kind": "step", "name": record.name, "t": record.t_ns}
        case ClientKilled():
            times = {"sent": record.sent_ns, "dead": record.dead_ns}
            return {"kind": "client_killed", **_who(record), **times}
        case ClientFrozen():
            times = {"begin": record.begin_ns, "end": record.end_ns}
            return {"kind": "client_frozen", **_who(record), **times}
        case EngineKilled():
            times = {"sent": record.sent_ns, "dead": record.dead_ns}
            return {"kind": "engine_killed", "generation": record.generation, **times}
        case Fault():
            times = {"begin": record.begin_ns, "end": record.end_ns}
            return {"kind": "fault", "name": record.name, **times}
        case Closing():
            return {"kind": "closing", "t": record.t_ns}


def _who(record: ClientKilled | ClientFrozen) -> dict[str, Any]:
    pid = {} if record.pid is None else {"pid": record.pid}
    return {"client_id": record.client_id, **pid}


def step_of(fields: LineFields) -> StepRecord:
    """Return the record of one line.

    Raises:
        LineError: fault logs have no line of this kind, or a field is missing or wrong.
    """
    return _READERS[fields.kind(_READERS)](fields)


def _span(f: LineFields, first: str, last: str) -> tuple[int, int]:
    begin = f.integer(first)
    return begin, f.integer(last, least=begin)


def _client_killed(f: LineFields) -> ClientKilled:
    return ClientKilled(f.text("client_id"), *_span(f, "sent", "dead"), f.optional_integer("pid"))


def _client_frozen(f: LineFields) -> ClientFrozen:
    return ClientFrozen(f.text("client_id"), *_span(f, "begin", "end"), f.optional_integer("pid"))


_READERS: Final[Mapping[str, Callable[[LineFields], StepRecord]]] = {
    "client_killed": _client_killed,
    "client_frozen": _client_frozen,
    "engine_killed": lambda f: EngineKilled(f.integer("generation"), *_span(f, "sent", "dead")),
    "fault": lambda f: Fault(f.text("name"), *_span(f, "begin", "end")),
    "step": lambda f: StepBegun(f.text("name"), f.integer("t")),
    "closing": lambda f: Closing(f.integer("t")),
}
