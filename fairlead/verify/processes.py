"""Finds the process of each death and each freeze in a fault log.

A client id may have several processes, one after the other: a killed client may come back under its
id. A line of the fault log belongs to the process with its pid; without a pid, to the client's
newest process by then.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fairlead.verify.history import ClientFrozen, ClientKilled, Journal, StepRecord

__all__ = ["ProcessRun", "processes_of"]


@dataclass(slots=True)
class ProcessRun:
    """One process: its journal, its death (None: no SIGKILL on record), and its freezes."""

    journal: Journal
    death: ClientKilled | None = None
    freezes: list[ClientFrozen] = field(default_factory=list)

    def stood(self) -> list[ClientFrozen]:
        """Return its real freezes: a process that writes meanwhile does not stand still."""
        return [
            freeze
            for freeze in self.freezes
            if not any(
                freeze.begin_ns < record.t_ns < freeze.end_ns for record in self.journal.records
            )
        ]

    def was_there(self, client_id: str, pid: int | None, t_ns: int) -> bool:
        """Tell whether this may be the client's process with that pid at that moment."""
        if self.journal.client_id != client_id:
            return False
        if pid is not None and self.journal.pid not in (None, pid):
            return False
        begun_ns = self.journal.begun_ns
        return (begun_ns is None or begun_ns <= t_ns) and self.death is None


def processes_of(
    journals: Sequence[Journal], steps: Iterable[StepRecord]
) -> tuple[list[ProcessRun], list[ClientKilled]]:
    """Return each process with its faults, and the deaths of processes that wrote nothing.

    Args:
        journals: one for each process.
        steps: the fault log.
    """
    processes = [ProcessRun(journal) for journal in journals]
    unwritten = []
    done = [step for step in steps if isinstance(step, ClientKilled | ClientFrozen)]
    for step in sorted(done, key=_moment):
        there = [
            process
            for process in processes
            if process.was_there(step.client_id, step.pid, _moment(step))
        ]
        process = max(there, key=lambda each: each.journal.begun_ns or 0, default=None)
        if isinstance(step, ClientFrozen):
            if process is not None:
                process.freezes.append(step)
        elif process is None:
            unwritten.append(step)
        else:
            process.death = step
    return processes, unwritten


def _moment(step: ClientKilled | ClientFrozen) -> int:
    return step.dead_ns if isinstance(step, ClientKilled) else step.begin_ns
