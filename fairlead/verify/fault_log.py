"""The log of what was done to a run, as JSON lines: kills, steps, and faults with begin and end."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from fairlead.errors import UsageError
from fairlead.verify.history import (
    ClientKilled,
    Closing,
    EngineKilled,
    Fault,
    StepBegun,
    StepRecord,
)

__all__ = ["read_faults", "write_faults"]


def write_faults(path: Path, records: Iterable[StepRecord]) -> None:
    """Write a log; times are CLOCK_MONOTONIC in nanoseconds, as in journals."""
    path.write_bytes(b"".join(orjson.dumps(_plain(record)) + b"\n" for record in records))


def read_faults(path: Path) -> list[StepRecord]:
    """Return the records of a log.

    Raises:
        UsageError: the file cannot be read, or a line is none of a log.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(
            f"--faults: {path} cannot be read ({error.strerror}).", remedy="Name the fault log."
        ) from error
    records = []
    for number, line in enumerate(lines, 1):
        try:
            records.append(_record(orjson.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"--faults: {path}, line {number}: {type(error).__name__}: {error}.",
                remedy="See docs/verify.md for what a fault log holds.",
            ) from error
    return records


def _plain(record: StepRecord) -> dict[str, Any]:
    match record:
        case StepBegun():
            return {"kind": "step", "name": record.name, "t": record.t_ns}
        case ClientKilled():
            times = {"sent": record.sent_ns, "dead": record.dead_ns}
            return {"kind": "client_killed", "client_id": record.client_id, **times}
        case EngineKilled():
            times = {"sent": record.sent_ns, "dead": record.dead_ns}
            return {"kind": "engine_killed", "generation": record.generation, **times}
        case Fault():
            times = {"begin": record.begin_ns, "end": record.end_ns}
            return {"kind": "fault", "name": record.name, **times}
        case Closing():
            return {"kind": "closing", "t": record.t_ns}


def _record(fields: Mapping[str, Any]) -> StepRecord:
    match fields["kind"]:
        case "step":
            return StepBegun(str(fields["name"]), int(fields["t"]))
        case "client_killed":
            return ClientKilled(str(fields["client_id"]), int(fields["sent"]), int(fields["dead"]))
        case "engine_killed":
            return EngineKilled(int(fields["generation"]), int(fields["sent"]), int(fields["dead"]))
        case "fault":
            return Fault(str(fields["name"]), int(fields["begin"]), int(fields["end"]))
        case "closing":
            return Closing(int(fields["t"]))
    raise ValueError(f"kind {fields['kind']!r} is none of a fault log")
