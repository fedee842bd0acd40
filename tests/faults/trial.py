"""What was done to a running system in one trial, as values: for the judge, and for nobody else.

Times are CLOCK_MONOTONIC in nanoseconds, as in the journals.
"""

from dataclasses import dataclass, field
from pathlib import Path

from fairlead_proof.local.child import Killing


@dataclass(frozen=True, slots=True)
class Life:
    """One consumer process.

    Attributes:
        name: of the process; several may have had one client id.
        client_id: its client id.
        journal: what it wrote.
        killed: when SIGKILL ended it, None if it did not.
        running: it may still be at work.
    """

    name: str
    client_id: str
    journal: Path
    killed: Killing | None
    running: bool


@dataclass(frozen=True, slots=True)
class Freeze:
    """All threads of a process stood still, from a moment when that was certain to SIGCONT."""

    name: str
    since_ns: int
    until_ns: int


@dataclass(frozen=True, slots=True)
class Lapse:
    """A fault that ends a client's lease lasted so long: what it worked on meanwhile is lost.

    Its successors may read again what it processed after the last progress that the engine read.
    """

    client_id: str
    since_ns: int
    until_ns: int


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a trial in which only some queues may change hands.

    Attributes:
        group: whose queues.
        name: what was done.
        begun_ns: before it was done.
        ended_ns: when the group was settled again.
        owners: only queues of these client ids may be started; None: any.
        starts_max: at most so many starts; None: any number.
        settled: at its end every queue has an owner.
    """

    group: str
    name: str
    begun_ns: int
    ended_ns: int
    owners: frozenset[str] | None = None
    starts_max: int | None = None
    settled: bool = True


@dataclass(slots=True)
class FaultLog:
    """Everything that was done since the system started."""

    freezes: list[Freeze] = field(default_factory=list)
    lapses: list[Lapse] = field(default_factory=list)


@dataclass(slots=True)
class Trial:
    """One fault, from before it to when everything was in order again.

    Attributes:
        name: the fault.
        begun_ns: before it.
        decisions: per group, how many decision records there were before it.
        phases: what may have moved when.
        lapsed: the client ids whose leases it ends, of the quick group.
        may_expire: per group, the client ids that the engine may take for dead.
        unsafe: the groups in which the engine may grant without waiting, and say so.
    """

    name: str
    begun_ns: int
    decisions: dict[str, int]
    phases: list[Phase] = field(default_factory=list)
    lapsed: set[str] = field(default_factory=set)
    may_expire: dict[str, set[str]] = field(default_factory=dict)
    unsafe: set[str] = field(default_factory=set)
