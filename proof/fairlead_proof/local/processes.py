"""A process and all that it started, as the kernel shows them: their processor time and memory.

What vanishes while it is looked at is left out: its processor time stands with its parent by then,
and its memory is free.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Final, NamedTuple

PROC: Final = Path("/proc")
_KIBIBYTE: Final = 1024


class Process(NamedTuple):
    """One process at one look.

    Attributes:
        pid: its number.
        state: one letter: Z is a zombie, X is dead, everything else lives.
        parent: the process that started it, or took it over.
        group: its process group.
        seconds: its own processor time, and that of the children whose ends it has collected.
        resident_pages: so many pages of memory it has mapped in, those that others share included.
    """

    pid: int
    state: str
    parent: int
    group: int
    seconds: float
    resident_pages: int


@dataclass(frozen=True, slots=True)
class FamilyMemory:
    """The memory of a process and of its living descendants.

    Attributes:
        bytes: the sum of what was read.
        processes: of so many processes.
        complete: False if it was broken off, so that the sum is too small.
    """

    bytes: int
    processes: int
    complete: bool


def list_processes() -> Iterator[Process]:
    """Yield every process of this machine, one read after the other."""
    ticks = os.sysconf("SC_CLK_TCK")
    for entry in PROC.iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            text = (entry / "stat").read_text(encoding="ascii", errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        # The program's name stands in parentheses and may hold anything. Behind it come state,
        # parent, group; from the eleventh on user, system, collected user, collected system; and
        # as the twenty-first the resident pages, counted from zero.
        fields = text.rpartition(")")[2].split()
        yield Process(
            pid=int(entry.name),
            state=fields[0],
            parent=int(fields[1]),
            group=int(fields[2]),
            seconds=sum(int(ticked) for ticked in fields[11:15]) / ticks,
            resident_pages=int(fields[21]),
        )


def family_of(pid: int) -> list[Process]:
    """Return a process and its living descendants, itself first.

    Raises:
        ProcessLookupError: there is no such process.
    """
    by_pid: dict[int, Process] = {}
    children: dict[int, list[Process]] = {}
    for process in list_processes():
        by_pid[process.pid] = process
        children.setdefault(process.parent, []).append(process)
    if pid not in by_pid:
        raise ProcessLookupError(pid)
    family = [by_pid[pid]]
    for member in family:
        family += children.get(member.pid, [])
    return family


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process and of its living descendants, in seconds.

    Raises:
        ProcessLookupError: there is no such process.
    """
    return sum(member.seconds for member in family_of(pid))


def memory_bytes(pid: int) -> int:
    """Return the memory of one process, a page that several share divided among them (PSS).

    Raises:
        ProcessLookupError: there is no such process, or it has given its memory back.
        OSError: the kernel does not tell.
    """
    folder = PROC / str(pid)
    try:
        text = (folder / "smaps_rollup").read_text(encoding="ascii")
    except FileNotFoundError:
        if folder.exists():
            raise
        raise ProcessLookupError(pid) from None
    for line in text.splitlines():
        name, _, figure = line.partition(":")
        if name == "Pss":
            return int(figure.split()[0]) * _KIBIBYTE
    raise OSError(f"{folder}/smaps_rollup has no Pss")


def family_memory(pid: int, seconds_max: float) -> FamilyMemory:
    """Return the memory of a process and of its living descendants, read one after the other.

    The greatest come first, so that little is missing from a sum that was broken off.

    Args:
        pid: the process.
        seconds_max: the kernel walks over every page for this: after so long no further process is
            looked at.

    Raises:
        ProcessLookupError: there is no such process.
        OSError: the kernel does not tell.
    """
    deadline = monotonic() + seconds_max
    total = processes = 0
    family = sorted(family_of(pid), key=lambda member: member.resident_pages, reverse=True)
    for member in family:
        if monotonic() > deadline:
            return FamilyMemory(total, processes, complete=False)
        try:
            total += memory_bytes(member.pid)
        except ProcessLookupError:
            continue
        processes += 1
    return FamilyMemory(total, processes, complete=True)
