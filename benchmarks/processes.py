"""How much processor time a process and everything that it started has used."""

import os
from pathlib import Path


def cpu_seconds(process_id: int) -> float:
    """Return user and system time of a process and its living descendants, in seconds."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(path.parent.name)
        children.setdefault(int(fields[1]), []).append(number)
        # utime, stime, and those of children that have ended.
        ticks[number] = sum(int(field) for field in fields[11:15])
    total, waiting = 0, [process_id]
    while waiting:
        number = waiting.pop()
        total += ticks.get(number, 0)
        waiting += children.get(number, [])
    return total / os.sysconf("SC_CLK_TCK")
