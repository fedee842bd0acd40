"""What can happen to a session. Facts in the past tense; the time comes beside each event.

Events that answer something sent carry the incarnation that sent it: an answer to an earlier
incarnation is void.
"""

from dataclasses import dataclass

from fairlead_client.model import Epoch, Position, Progress, Queue, Subscription
from fairlead_client.session.records import Assignment, Notice, Release


@dataclass(frozen=True, slots=True)
class Started:
    """A fresh incarnation begins; the newest generation and the ends of the topics were read."""

    incarnation: str
    generation: int


@dataclass(frozen=True, slots=True)
class HeartbeatAppended:
    """A heartbeat is known to be in the log; `sent_at_ms` was taken before it was sent."""

    incarnation: str
    sequence: int
    sent_at_ms: int


@dataclass(frozen=True, slots=True)
class HeartbeatFailed:
    """A heartbeat is not known to be in the log."""

    incarnation: str
    sequence: int


@dataclass(frozen=True, slots=True)
class AssignmentsReadToEnd:
    """Everything that stood in the assignments partition at `at_ms` has been read."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class AssignmentRead:
    """An assignment record of some client was read."""

    record: Assignment


@dataclass(frozen=True, slots=True)
class ReleaseRead:
    """A release of some client was read."""

    record: Release


@dataclass(frozen=True, slots=True)
class GenerationRead:
    """A driver's claim was read; a generation is the claim's offset + 1."""

    generation: int


@dataclass(frozen=True, slots=True)
class NoticeRead:
    """A notice to some client was read."""

    record: Notice


@dataclass(frozen=True, slots=True)
class ProgressMade:
    """Everything of the queue below `offset` is processed; `end` will be written next.

    `idle_ms`: how long ago a pull of it was last tried in this work, one that was held back by flow
    control counts; to be told now and then while nothing is tried. None: not told.
    """

    queue: Queue
    epoch: Epoch
    offset: int
    end: int | None = None
    idle_ms: int | None = None


@dataclass(frozen=True, slots=True)
class WorkStopped:
    """The application no longer works on the queue; None: the progress made so far holds.

    `end`: where the queue ended when it was fetched last; None: not told.
    """

    queue: Queue
    epoch: Epoch
    offset: int | None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class WorkFailed:
    """The application could not take a queue; the client leaves with this error."""

    error: Exception


@dataclass(frozen=True, slots=True)
class CommitFinished:
    """A commit of positions to the data plane came to an end."""

    entries: tuple[Progress, ...]
    committed: bool


@dataclass(frozen=True, slots=True)
class ReleaseAppended:
    """A release is known to be in the log."""

    incarnation: str
    queue: Queue
    epoch: Epoch
    position: Position | None


@dataclass(frozen=True, slots=True)
class ReleaseFailed:
    """A release is not known to be in the log."""

    incarnation: str
    queue: Queue
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class ProgressFailed:
    """Progress was not written."""

    incarnation: str
    entries: tuple[Progress, ...]


@dataclass(frozen=True, slots=True)
class ClaimsAppended:
    """All parts of the claims for a generation are known to be in the log."""

    incarnation: str
    generation: int


@dataclass(frozen=True, slots=True)
class ClaimsFailed:
    """Some part of the claims for a generation is not known to be in the log."""

    incarnation: str
    generation: int


@dataclass(frozen=True, slots=True)
class LeaveAppended:
    """The leave is known to be in the log."""

    incarnation: str


@dataclass(frozen=True, slots=True)
class LeaveFailed:
    """The leave is not known to be in the log."""

    incarnation: str


@dataclass(frozen=True, slots=True)
class SubscriptionChanged:
    """The application wants other topics."""

    subscriptions: tuple[Subscription, ...]


@dataclass(frozen=True, slots=True)
class DecisionWanted:
    """The application wants the engine to decide now whatever is to decide."""


@dataclass(frozen=True, slots=True)
class LeaveRequested:
    """The application closes the client."""


@dataclass(frozen=True, slots=True)
class TimePassed:
    """Nothing else happened; whatever is due is done."""


@dataclass(frozen=True, slots=True)
class LeaseEnded:
    """Raised by the session itself: the lease is over, or the engine says that it was."""

    reason: str


@dataclass(frozen=True, slots=True)
class AllReleased:
    """Raised by the session itself: a leaving client has nothing left to release."""


@dataclass(frozen=True, slots=True)
class AllStopped:
    """Raised by the session itself: a fenced client works on nothing any more."""


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
    | SubscriptionChanged
    | DecisionWanted
    | LeaveRequested
    | TimePassed
    | LeaseEnded
    | AllReleased
    | AllStopped
)
