"""How much processor time a process and everything it started has used."""

import os
from pathlib import Path


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process and of its living descendants, in seconds.

    Raises:
        ProcessLookupError: there is no such process.
    """
    times, parents = _read_all()
    if pid not in times:
        raise ProcessLookupError(pid)
    family, grown = {pid}, True
    while grown:
        children = {child for child, parent in parents.items() if parent in family} - family
        family |= children
        grown = bool(children)
    return sum(times[member] for member in family)


def _read_all() -> tuple[dict[int, float], dict[int, int]]:
    """Per process, its own time and that of the children it collected; and its parent."""
    ticks = os.sysconf("SC_CLK_TCK")
    times: dict[int, float] = {}
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            text = (entry / "stat").read_text(encoding="ascii", errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        # Fields 3 and following: state, parent, … user, system, collected user, collected system.
        fields = text.rpartition(")")[2].split()
        times[int(entry.name)] = sum(int(ticked) for ticked in fields[11:15]) / ticks
        parents[int(entry.name)] = int(fields[1])
    return times, parents
