"""Which process each death and each standstill of a fault log is of.

A client id may have had several processes, one after the other: who was killed may come back under
its id. So a line of the fault log is of one process: of the one with its pid, or, if it names none,
of the one of that client that had begun last by then.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fairlead.verify.history import ClientFrozen, ClientKilled, Journal, StepRecord

__all__ = ["Life", "lives_of"]


@dataclass(slots=True)
class Life:
    """One process: what it wrote, how it died (None: by no SIGKILL on record), when it stood."""

    journal: Journal
    death: ClientKilled | None = None
    freezes: list[ClientFrozen] = field(default_factory=list)

    def stood(self) -> list[ClientFrozen]:
        """Return when it stood still indeed: who writes meanwhile does not, whatever a log says."""
        return [
            freeze
            for freeze in self.freezes
            if not any(
                freeze.begin_ns < record.t_ns < freeze.end_ns for record in self.journal.records
            )
        ]

    def was_there(self, client_id: str, pid: int | None, t_ns: int) -> bool:
        """Tell whether it may be the process of this client, with this pid, at that moment."""
        if self.journal.client_id != client_id:
            return False
        if pid is not None and self.journal.pid not in (None, pid):
            return False
        begun_ns = self.journal.begun_ns
        return (begun_ns is None or begun_ns <= t_ns) and self.death is None


def lives_of(
    journals: Sequence[Journal], steps: Iterable[StepRecord]
) -> tuple[list[Life], list[ClientKilled]]:
    """Return each process with what was done to it, and the deaths of those that wrote nothing.

    Args:
        journals: one for each process.
        steps: the fault log.
    """
    lives = [Life(journal) for journal in journals]
    unwritten = []
    done = [step for step in steps if isinstance(step, ClientKilled | ClientFrozen)]
    for step in sorted(done, key=_moment):
        there = [life for life in lives if life.was_there(step.client_id, step.pid, _moment(step))]
        life = max(there, key=lambda each: each.journal.begun_ns or 0, default=None)
        if isinstance(step, ClientFrozen):
            if life is not None:
                life.freezes.append(step)
        elif life is None:
            unwritten.append(step)
        else:
            life.death = step
    return lives, unwritten


def _moment(step: ClientKilled | ClientFrozen) -> int:
    return step.dead_ns if isinstance(step, ClientKilled) else step.begin_ns
