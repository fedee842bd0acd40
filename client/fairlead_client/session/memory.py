"""The memory of a session: the client as a whole, and each queue of the present incarnation.

Only handlers of the transition table change it. An idle queue keeps two epochs, `top` and
`started`, which make late and repeated records harmless.
"""

from collections import Counter, deque
from dataclasses import dataclass, field

from fairlead_client.model import (
    EPOCH_ZERO,
    POSITION_ZERO,
    Epoch,
    Holder,
    Position,
    Process,
    Progress,
    Queue,
    Subscription,
)
from fairlead_client.session.actions import Action, CommitProgress, SendFormer, SendRelease
from fairlead_client.session.assignment_assembler import AssignmentAssembler
from fairlead_client.session.records import Drop, Notice
from fairlead_client.session.seen_releases import SeenReleases
from fairlead_client.session.states import QueueState, SessionState, Signal, Standing

NEVER_MS = 2**62
"""A time that does not come."""
OWNED = frozenset({QueueState.WORKING, QueueState.LINGERING, QueueState.DRAINING})
"""In these states the application may work on the queue, while the client has a lease."""
WORKING_ON = frozenset({QueueState.WORKING, QueueState.LINGERING})
"""The application works on the queue, and has not been asked to stop."""
TIMED = frozenset({QueueState.COMMITTING, QueueState.LINGERING})
UNGRANTED = frozenset({QueueState.FROZEN, QueueState.YIELDING})
"""The application works on the queue, and no grant of it has begun."""
STOPPING = frozenset({QueueState.DRAINING, QueueState.YIELDING})
"""The client has asked the application to stop."""
WORK_STATES = OWNED | UNGRANTED | {QueueState.COMMITTING}


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """The settings of a session; all times in ms."""

    group: str
    client_id: str
    process: Process
    subscriptions: tuple[Subscription, ...]
    heartbeat_ms: int = 3_000
    lease_ms: int = 10_000
    progress_ms: int = 1_000
    commit_ms: int = 5_000
    drain_deadline_ms: int | None = 30_000
    commits: bool = True
    commit_timeout_ms: int = 2_000
    retry_ms: int = 200
    stands_by: bool = False
    """Whether the application can follow the strategy that its data plane has always had."""
    pace_ms: int = 400
    """The least time between two heartbeats that a change sends early."""
    gather_ms: int = 300
    """Changes within this time share one heartbeat and one progress; releases do not wait."""


@dataclass(frozen=True, slots=True)
class Gate:
    """An add that may wait for releases; the protocol's table calls it `next`."""

    epoch: Epoch
    base: Position
    after: tuple[Holder, ...]
    identity: str | None = None


@dataclass(slots=True)
class QueueMemory:
    """One queue. During work, `started` is the work's epoch and `position` its progress.

    `identity` is the topic's identity that `position` belongs to. Invariant: started <= top.
    """

    queue: Queue
    top: Epoch
    started: Epoch = EPOCH_ZERO
    state: QueueState = QueueState.IDLE
    position: Position = POSITION_ZERO
    identity: str | None = None
    start: Position = POSITION_ZERO
    """Where the work began. Only a correction of the offset moves it back."""
    granted: Position = POSITION_ZERO
    """Where the queue starts, as the engine's add says."""
    gate: Gate | None = None
    due_ms: int = 0
    """When a state of `TIMED` ends."""
    drain_since_ms: int = 0
    end: int | None = None
    idle_ms: int | None = None
    """Reported once, in the next progress."""
    unsent: bool = False
    committed: Position | None = None
    handed: Position | None = None
    """Where the former holder released, and probably committed; None after our own commit."""
    successor: str | None = None
    """The client that waits for the release of the work, if the engine has named it."""
    frozen: Epoch | None = None
    """The epoch by which the application knows the work, if that is not `started`."""
    frozen_at: int | None = None
    """Where work without a grant is; None: not known."""

    @property
    def name(self) -> Epoch:
        """The epoch by which the application knows the work."""
        return self.started if self.frozen is None else self.frozen

    @property
    def works(self) -> bool:
        """Whether the application works on the queue; the protocol's table calls it `cur`."""
        return self.state in WORK_STATES

    @property
    def progress(self) -> Progress:
        """The progress of the work, or where it ended."""
        return Progress(
            self.queue, self.started, self.position, self.end, self.identity, self.idle_ms
        )


@dataclass(slots=True)
class PendingRelease:
    """A release that may not be in the log: it waits for a commit, an answer or a retry."""

    queue: Queue
    epoch: Epoch
    position: Position | None
    due_ms: int = 0
    sent: bool = False
    identity: str | None = None
    successor: str | None = None


@dataclass(slots=True)
class Memory:
    """Everything that a session remembers."""

    settings: SessionSettings
    subscriptions: tuple[Subscription, ...]
    state: SessionState = SessionState.NEW
    now_ms: int = 0
    # One incarnation.
    incarnation: str = ""
    incarnations: int = 0
    sequence: int = 0
    lease_until_ms: int = 0
    applied: Epoch | None = None
    asked_ms: int = 0
    """Since when the client waits for an engine to assign its queues: since its first heartbeat,
    the start of the newest engine, or the engine's last notice."""
    waiting_notice: Notice | None = None
    """The engine's notice of why the client waits; None if there is none."""
    refusal: Notice | None = None
    """The newest notice of a rejected record, read at `refused_ms`; None if there is none."""
    refused_ms: int = 0
    queues: dict[Queue, QueueMemory] = field(default_factory=dict)
    parts: AssignmentAssembler = field(default_factory=AssignmentAssembler)
    pending: dict[tuple[Queue, Epoch], PendingRelease] = field(default_factory=dict)
    claims_due_ms: int | None = None
    leave_due_ms: int | None = None
    leave_appended: bool = False
    hand_over_until_ms: int | None = None
    """When a client that leaves stops what nobody has dropped; None: it has stopped it."""
    new_incarnation_asked: bool = False
    # All incarnations of the client.
    generation: int = 0
    seen: SeenReleases = field(default_factory=SeenReleases)
    read_to_end_ms: int = 0
    closing: bool = False
    error: Exception | None = None
    counts: Counter[str] = field(default_factory=Counter)
    standing: Standing = Standing.OWN
    """Who decides what the client holds, as the newest assignment says."""
    standing_since: Epoch = EPOCH_ZERO
    """The epoch of the assignment that said it first; older ones say nothing any more."""
    floor: Epoch = EPOCH_ZERO
    """No grant up to this epoch counts: the engine gave the queues up, or froze them, since."""
    freeze: Epoch | None = None
    """The freeze that the client answers; None: nobody asks."""
    is_loose: bool = False
    """Whether the application may hold queues that no epoch names."""
    former: SendFormer | None = None
    """The answer to `freeze` that may not be in the log."""
    former_due_ms: int | None = None
    decision_wanted: bool = False
    decision_asked: int | None = None
    """The sequence of the first heartbeat that asks for the wanted decision."""
    # When each step is due.
    heartbeat_at_ms: int = 0
    heartbeat_sent_ms: int = 0
    progress_at_ms: int = 0
    commit_at_ms: int = 0
    # The output of the present step.
    actions: list[Action] = field(default_factory=list)
    signals: deque[tuple[QueueMemory, Signal, object]] = field(default_factory=deque)

    def queue(self, queue: Queue) -> QueueMemory:
        """Return the memory of one queue; a new one refuses adds of lower generations."""
        known = self.queues.get(queue)
        if known is None:
            known = self.queues[queue] = QueueMemory(queue, top=self.lowest)
        return known

    @property
    def lowest(self) -> Epoch:
        """The epoch up to which every grant is over."""
        return max(Epoch(self.generation, 0), self.floor)

    @property
    def holds_ungranted(self) -> bool:
        """Whether the application may work on a queue that the engine has not granted."""
        return self.is_loose or any(queue.state in UNGRANTED for queue in self.queues.values())

    @property
    def works_on(self) -> bool:
        """Whether the application works on a queue, and has not been asked to stop."""
        return any(queue.state in WORKING_ON for queue in self.queues.values())

    @property
    def leave_is_due(self) -> bool:
        """Whether to write the leave now: what the engine has not granted stops before it."""
        due_ms = self.leave_due_ms
        return due_ms is not None and due_ms <= self.now_ms and not self.holds_ungranted

    @property
    def reached(self) -> Standing:
        """Where the client is: it is at `own` once nothing runs without a grant."""
        if self.standing is not Standing.OWN or not self.holds_ungranted:
            return self.standing
        return Standing.FOLLOW if self.is_loose else Standing.FREEZE

    def signal(self, queue: QueueMemory, signal: Signal, detail: object = None) -> None:
        """Send a signal to a queue, behind the signals that already wait."""
        self.signals.append((queue, signal, detail))

    def answer_gate(self, queue: QueueMemory) -> None:
        """Answer the gate of a queue with None, if it has one: nobody will open it."""
        if queue.gate is not None:
            self.signal(queue, Signal.DROP, Drop(queue.queue, queue.gate.epoch))

    def stop_working_on(self) -> None:
        """Stop, as the client leaves, what it has not been asked to stop."""
        self.hand_over_until_ms = None
        for queue in self.queues.values():
            if queue.state in WORKING_ON:
                self.signal(queue, Signal.LEAVE)

    def changed(self) -> None:
        """Send a heartbeat soon: the client's queues have changed."""
        settings = self.settings
        soon = max(self.now_ms + settings.gather_ms, self.heartbeat_sent_ms + settings.pace_ms)
        self.heartbeat_at_ms = min(self.heartbeat_at_ms, soon)

    def release(
        self,
        queue: QueueMemory,
        epoch: Epoch,
        position: Position | None,
        successor: str | None,
    ) -> None:
        """Release an epoch of a queue, after a commit of the position to the data plane.

        After the release the successor may commit, and a later commit of ours would undo it. If
        nothing was processed since the former holder's release, there is nothing to commit.
        """
        if (queue.queue, epoch) in self.pending:
            return
        release = PendingRelease(
            queue.queue, epoch, position, due_ms=self.now_ms, successor=successor
        )
        if position is not None:
            release.identity = queue.identity
        self.pending[queue.queue, epoch] = release
        fenced = self.state is SessionState.FENCED
        committed = position in (queue.committed, queue.handed)
        if position is None or committed or fenced or not self.settings.commits:
            self.send_release(release)
        else:
            release.due_ms = self.now_ms + self.settings.commit_timeout_ms
            self.commit((Progress(queue.queue, epoch, position, identity=queue.identity),))

    def send_release(self, release: PendingRelease) -> None:
        """Write a pending release, for the first time or again."""
        release.sent = True
        # It has not left yet while something runs that the engine has not granted.
        leaving = self.state is SessionState.LEAVING and not self.holds_ungranted
        self.actions.append(
            SendRelease(
                self.incarnation,
                release.queue,
                release.epoch,
                release.position,
                last_started=self.last_started if leaving else None,
                identity=release.identity,
                successor=release.successor,
            ),
        )

    @property
    def last_started(self) -> Epoch:
        """The newest epoch under which this incarnation started work; [0, 0] if it never did."""
        return max((queue.started for queue in self.queues.values()), default=EPOCH_ZERO)

    def commit(self, entries: tuple[Progress, ...]) -> None:
        """Commit positions, before the lease can end."""
        for entry in entries:
            self.queue(entry.queue).handed = None
        not_after_ms = min(self.now_ms + self.settings.commit_timeout_ms, self.lease_until_ms)
        self.actions.append(CommitProgress(entries, not_after_ms))
