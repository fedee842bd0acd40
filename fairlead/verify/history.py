"""What happened in a run, as values: journals, the script's log, the topics' content.

Nothing here judges. Times are CLOCK_MONOTONIC in nanoseconds: all processes of one Linux host
share that clock, so the order of two records of two processes is a fact and no estimate.
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
    """The client has ``count`` messages from ``offset`` on in hand, unfinished.

    Several messages are a batch: ``Committed`` finishes all of them together.
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
    """The client skips ``count`` offsets from ``offset`` on, and says why."""

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
    """What one consumer process wrote, in its order.

    Attributes:
        client_id: whose it is.
        records: its readable lines.
        faults: its unreadable lines. A last line that a kill cut off is no fault.
        pid: the process id; None if the journal has none.
        opened_ns: when the process opened the journal; None if the journal has no such line.
        cut_off: its last line ends in the middle.
    """

    client_id: str
    records: Sequence[JournalRecord]
    faults: Sequence[str] = ()
    pid: int | None = None
    opened_ns: int | None = None
    cut_off: bool = False

    @property
    def begun_ns(self) -> int | None:
        """The first moment at which the process certainly ran; None: it wrote no time."""
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

    ``pid`` names the client's process; None: its newest process by then.
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
    """The script is over: later moves come from the end of the run, not from a step."""

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
    """One entry of a progress record, with its place in the log.

    ``identity`` is that of the topic; None if the record names none.
    """

    source: tuple[str, int]
    source_offset: int
    client_id: str
    queue: MessageQueue
    epoch: Epoch
    offset: int
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class History:
    """All evidence of one run.

    Attributes:
        journals: one per consumer process, killed ones included.
        steps: the script's log in order.
        source: what the source topic holds at judging time: per queue, offset → number, or None
            if the number is unknown.
        decisions: of the group, in the order of the topic.
        grants: every add that the engine sent or decided: queue, client, epoch.
        identities: of the topic of each grant; a grant whose record names none is absent.
        starts: per grant, by its assignment record: the reset that it follows, the first offset.
        progress: every progress entry of the group.
    """

    journals: Sequence[Journal] = ()
    steps: Sequence[StepRecord] = ()
    source: Mapping[MessageQueue, Mapping[int, int | None]] = field(default_factory=dict)
    decisions: Sequence[DecisionRecord] = ()
    grants: frozenset[GrantKey] = frozenset()
    identities: Mapping[tuple[MessageQueue, Epoch], str] = field(default_factory=dict)
    starts: Mapping[tuple[MessageQueue, Epoch], tuple[int, int]] = field(default_factory=dict)
    progress: Sequence[ProgressReport] = ()
