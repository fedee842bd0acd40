"""The events of a session; the caller gives the time with each.

An event that answers an action carries the action's incarnation: the session ignores an answer to
an earlier incarnation.
"""

from dataclasses import dataclass

from fairlead_client.model import Epoch, Position, Progress, Queue, Subscription
from fairlead_client.session.records import Assignment, Notice, Release


@dataclass(frozen=True, slots=True)
class Started:
    """A new incarnation begins; its caller has read the newest generation and the topics' ends."""

    incarnation: str
    generation: int


@dataclass(frozen=True, slots=True)
class HeartbeatAppended:
    """A heartbeat is in the log; `sent_at_ms` is a time before it was sent."""

    incarnation: str
    sequence: int
    sent_at_ms: int


@dataclass(frozen=True, slots=True)
class HeartbeatFailed:
    """A heartbeat may not be in the log."""

    incarnation: str
    sequence: int


@dataclass(frozen=True, slots=True)
class AssignmentsReadToEnd:
    """The client has read every assignment that was in its partition at `at_ms`."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class AssignmentRead:
    """The client read an assignment, of whichever client."""

    record: Assignment


@dataclass(frozen=True, slots=True)
class ReleaseRead:
    """The client read a release, of whichever client."""

    record: Release


@dataclass(frozen=True, slots=True)
class GenerationRead:
    """The client read an engine driver's claim; the generation is the claim's offset + 1."""

    generation: int


@dataclass(frozen=True, slots=True)
class NoticeRead:
    """The client read a notice, to whichever client."""

    record: Notice


@dataclass(frozen=True, slots=True)
class ProgressMade:
    """All messages of the queue below `offset` are processed; `end` is the next to be written.

    `idle_ms` is how long ago a pull of this work was last tried, even if flow control held it
    back. The application reports it now and then while it tries none. None: not reported.
    """

    queue: Queue
    epoch: Epoch
    offset: int
    end: int | None = None
    idle_ms: int | None = None


@dataclass(frozen=True, slots=True)
class WorkStopped:
    """The application has stopped its work on the queue.

    `offset` is the next offset to read; None: the last reported progress holds. `end` is where the
    queue ended at its last fetch; None: not reported.
    """

    queue: Queue
    epoch: Epoch
    offset: int | None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class WorkFailed:
    """The application could not start work on a queue; the client leaves with this error."""

    error: Exception


@dataclass(frozen=True, slots=True)
class CommitFinished:
    """A commit of positions to the data plane has ended."""

    entries: tuple[Progress, ...]
    committed: bool


@dataclass(frozen=True, slots=True)
class ReleaseAppended:
    """A release is in the log."""

    incarnation: str
    queue: Queue
    epoch: Epoch
    position: Position | None


@dataclass(frozen=True, slots=True)
class ReleaseFailed:
    """A release may not be in the log."""

    incarnation: str
    queue: Queue
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class ProgressFailed:
    """A write of progress failed."""

    incarnation: str
    entries: tuple[Progress, ...]


@dataclass(frozen=True, slots=True)
class ClaimsAppended:
    """All parts of the claims for a generation are in the log."""

    incarnation: str
    generation: int


@dataclass(frozen=True, slots=True)
class ClaimsFailed:
    """Some part of the claims for a generation may not be in the log."""

    incarnation: str
    generation: int


@dataclass(frozen=True, slots=True)
class LeaveAppended:
    """The leave is in the log."""

    incarnation: str


@dataclass(frozen=True, slots=True)
class LeaveFailed:
    """The leave may not be in the log."""

    incarnation: str


@dataclass(frozen=True, slots=True)
class Froze:
    """The application answers the freeze of this epoch: it holds these queues, and takes none.

    Each has its next offset; None: the application does not know it. Until the engine has answered,
    the freeze's epoch names the work on each of them.
    """

    epoch: Epoch
    queues: tuple[tuple[Queue, int | None], ...]


@dataclass(frozen=True, slots=True)
class Unfollowed:
    """Nothing runs any more that the application held without an epoch."""


@dataclass(frozen=True, slots=True)
class FormerAppended:
    """All parts of the answer to a freeze are in the log."""

    incarnation: str
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class FormerFailed:
    """Some part of the answer to a freeze may not be in the log."""

    incarnation: str
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class SubscriptionChanged:
    """The application subscribes to other topics."""

    subscriptions: tuple[Subscription, ...]


@dataclass(frozen=True, slots=True)
class DecisionWanted:
    """The application wants the engine to decide now."""


@dataclass(frozen=True, slots=True)
class LeaveRequested:
    """The application closes the client; a second one may hurry it.

    `hand_over_ms` is how long the client works on until the engine has named whoever goes on; 0: it
    stops everything at once.
    """

    hand_over_ms: int = 0


@dataclass(frozen=True, slots=True)
class TimePassed:
    """Time has passed; the session does what is due."""


@dataclass(frozen=True, slots=True)
class LeaseEnded:
    """Raised by the session itself: the lease is over, by its own clock or the engine's word."""

    reason: str


@dataclass(frozen=True, slots=True)
class AllReleased:
    """Raised by the session itself: a leaving client has nothing left to release."""


@dataclass(frozen=True, slots=True)
class AllStopped:
    """Raised by the session itself: all work of a fenced client has stopped."""


Event = (
    Started
    | HeartbeatAppended
    | HeartbeatFailed
    | AssignmentsReadToEnd
    | AssignmentRead
    | ReleaseRead
    | GenerationRead
    | NoticeRead
    | ProgressMade
    | WorkStopped
    | WorkFailed
    | CommitFinished
    | ReleaseAppended
    | ReleaseFailed
    | ProgressFailed
    | ClaimsAppended
    | ClaimsFailed
    | LeaveAppended
    | LeaveFailed
    | Froze
    | Unfollowed
    | FormerAppended
    | FormerFailed
    | SubscriptionChanged
    | DecisionWanted
    | LeaveRequested
    | TimePassed
    | LeaseEnded
    | AllReleased
    | AllStopped
)
