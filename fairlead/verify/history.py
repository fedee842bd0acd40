"""What happened in a run, as values: journals, the script's log, the topics' content.

Everything the judge looks at is here, and nothing here decides anything. Times are
CLOCK_MONOTONIC in nanoseconds, one clock for all processes of one Linux host, so that the order
of two records of two processes is a fact and no estimate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fairlead.core.model import Epoch, MessageQueue
from fairlead.wire.decision_records import DecisionRecord

__all__ = [
    "NEVER_ISSUED",
    "ClientFrozen",
    "ClientKilled",
    "Closing",
    "Committed",
    "Consumed",
    "EngineKilled",
    "Failed",
    "Fault",
    "GrantKey",
    "Held",
    "History",
    "Journal",
    "JournalRecord",
    "Passed",
    "ProgressReport",
    "Start",
    "StepBegun",
    "StepRecord",
    "Stop",
]


NEVER_ISSUED = Epoch(0, 0)
"""An epoch no engine issues: that of work without a start."""


@dataclass(frozen=True, slots=True)
class Start:
    """The client owns the queue from here on and reads it from ``offset``."""

    queue: MessageQueue
    epoch: Epoch
    offset: int
    t_ns: int


@dataclass(frozen=True, slots=True)
class Held:
    """The client has messages from ``offset`` on in hand and has not finished them.

    More than one are a batch: they are finished together, by ``Committed``.
    """

    queue: MessageQueue
    offset: int
    t_ns: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class Consumed:
    """The message at ``offset`` is processed; ``number`` is what the producer wrote into it."""

    queue: MessageQueue
    offset: int
    number: int
    t_ns: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The message at ``offset`` was handed out and is not processed: it comes again."""

    queue: MessageQueue
    offset: int
    t_ns: int


@dataclass(frozen=True, slots=True)
class Passed:
    """The queue goes on behind ``count`` offsets of which nothing was processed here, and why."""

    queue: MessageQueue
    offset: int
    count: int
    why: str
    t_ns: int


@dataclass(frozen=True, slots=True)
class Committed:
    """The application told its client that everything below ``offset`` is processed."""

    queue: MessageQueue
    offset: int
    t_ns: int


@dataclass(frozen=True, slots=True)
class Stop:
    """The client has stopped working on the queue; ``offset`` is the next one to read."""

    queue: MessageQueue
    epoch: Epoch
    offset: int
    t_ns: int


JournalRecord = Start | Held | Consumed | Failed | Passed | Committed | Stop


@dataclass(frozen=True, slots=True)
class Journal:
    """What one consumer process wrote, in the order in which it wrote it.

    Attributes: client_id: who wrote it. records: the lines understood. faults: lines that could
        not be understood. The last line of a killed process may be cut off in
            the middle; that is no fault. pid: its process id; None: it did not say. opened_ns: when
            it began to write; None: it did not say. cut_off: its last line ends in the middle.
    """

    client_id: str
    records: Sequence[JournalRecord]
    faults: Sequence[str] = ()
    pid: int | None = None
    opened_ns: int | None = None
    cut_off: bool = False

    @property
    def begun_ns(self) -> int | None:
        """When it was there for certain for the first time; None: it wrote nothing with a time."""
        if self.opened_ns is not None:
            return self.opened_ns
        return self.records[0].t_ns if self.records else None


@dataclass(frozen=True, slots=True)
class StepBegun:
    """A step of the script: the moment of its event."""

    name: str
    t_ns: int


@dataclass(frozen=True, slots=True)
class ClientKilled:
    """SIGKILL was sent at ``sent_ns``; at ``dead_ns`` the kernel had reported the death.

    ``pid``: of which of the client's processes; None: of the one that had begun last by then.
    """

    client_id: str
    sent_ns: int
    dead_ns: int
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class ClientFrozen:
    """Every thread of a client's process stood still from ``begin_ns`` to ``end_ns`` (SIGSTOP)."""

    client_id: str
    begin_ns: int
    end_ns: int
    pid: int | None = None


@dataclass(frozen=True, slots=True)
class EngineKilled:
    """The engine of ``generation`` was killed; at ``dead_ns`` the kernel had reported the death."""

    generation: int
    sent_ns: int
    dead_ns: int


@dataclass(frozen=True, slots=True)
class Closing:
    """The script is over: what moves after this is the end of the run, no step's doing."""

    t_ns: int


@dataclass(frozen=True, slots=True)
class Fault:
    """Something was broken on purpose from ``begin_ns`` to ``end_ns``."""

    name: str
    begin_ns: int
    end_ns: int


StepRecord = StepBegun | ClientKilled | ClientFrozen | EngineKilled | Fault | Closing

GrantKey = tuple[MessageQueue, str, Epoch]
"""One grant: the queue, the client id, and the epoch under which it was given."""


@dataclass(frozen=True, slots=True)
class ProgressReport:
    """One entry of a progress record: where in the log it stands and what it says.

    ``life``: the identity of its topic; None if not told.
    """

    source: tuple[str, int]
    source_offset: int
    client_id: str
    queue: MessageQueue
    epoch: Epoch
    offset: int
    life: str | None = None


@dataclass(frozen=True, slots=True)
class History:
    """All evidence of one run.

    Attributes:
        journals: one per consumer process, that of a killed one included.
        steps: the script's log in order.
        source: what the source topic holds at judging time: per queue, offset → number, or None
            where it is not known.
        decisions: of the group, in the order of the topic.
        grants: every add that the engine sent or decided: queue, client, epoch.
        lives: of which life of its topic a grant is, by its identity; what was not told is absent.
        starts: by grant, as its client was told it, the reset that it follows and where it begins.
        progress: every progress entry of the group.
    """

    journals: Sequence[Journal] = ()
    steps: Sequence[StepRecord] = ()
    source: Mapping[MessageQueue, Mapping[int, int | None]] = field(default_factory=dict)
    decisions: Sequence[DecisionRecord] = ()
    grants: frozenset[GrantKey] = frozenset()
    lives: Mapping[tuple[MessageQueue, Epoch], str] = field(default_factory=dict)
    starts: Mapping[tuple[MessageQueue, Epoch], tuple[int, int]] = field(default_factory=dict)
    progress: Sequence[ProgressReport] = ()
