"""The actions of a session. The caller does each one, in order, and reports back by events."""

from dataclasses import dataclass

from fairlead_client.model import Epoch, Position, Progress, Queue, Subscription
from fairlead_client.session.states import Standing


@dataclass(frozen=True, slots=True)
class Claim:
    """One queue that the incarnation started; `state` is `running`, or `final` after its end."""

    queue: Queue
    epoch: Epoch
    position: Position
    state: str
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class SendHeartbeat:
    """Write a heartbeat; answer with HeartbeatAppended or HeartbeatFailed.

    The caller reads the time for `sent_at_ms` before it gives the heartbeat to the producer.
    """

    incarnation: str
    incarnations: int
    sequence: int
    generation: int
    subscriptions: tuple[Subscription, ...]
    applied: Epoch | None
    digest: str
    decide: bool = False
    """Whether it asks the engine to decide at once."""
    standing: Standing | None = None
    """Where the client is; None: it cannot stand by."""


@dataclass(frozen=True, slots=True)
class SendProgress:
    """Write progress; answer with ProgressFailed if that fails."""

    incarnation: str
    entries: tuple[Progress, ...]


@dataclass(frozen=True, slots=True)
class SendClaims:
    """Write claims, in several parts if necessary; answer with ClaimsAppended or ClaimsFailed."""

    incarnation: str
    generation: int
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class SendRelease:
    """Write a release; answer with ReleaseAppended or ReleaseFailed.

    `last_started` is set if the client leaves: the newest epoch under which it started any work.
    It starts nothing newer. `successor` is the client that waits for the release, if known.
    """

    incarnation: str
    queue: Queue
    epoch: Epoch
    position: Position | None
    last_started: Epoch | None = None
    identity: str | None = None
    successor: str | None = None


@dataclass(frozen=True, slots=True)
class SendLeave:
    """Write the leave; answer with LeaveAppended or LeaveFailed."""

    incarnation: str
    sequence: int
    last_started: Epoch


@dataclass(frozen=True, slots=True)
class SendFormer:
    """Write what a frozen client holds, in several parts if necessary.

    Answer with FormerAppended or FormerFailed.
    """

    incarnation: str
    epoch: Epoch
    queues: tuple[tuple[Queue, int | None], ...]


@dataclass(frozen=True, slots=True)
class Follow:
    """The application follows its data plane's strategy, and keeps what it holds until then."""


@dataclass(frozen=True, slots=True)
class Freeze:
    """The application keeps what it holds, and takes nothing; answer with Froze."""

    epoch: Epoch


@dataclass(frozen=True, slots=True)
class StopFollowing:
    """The application stops all that it holds without an epoch; answer with Unfollowed."""


@dataclass(frozen=True, slots=True)
class StartWork:
    """The application may read the queue from `position` on.

    With `former` it holds the queue frozen, and goes on in place under this epoch.
    """

    queue: Queue
    epoch: Epoch
    position: Position
    former: bool = False


@dataclass(frozen=True, slots=True)
class StopWork:
    """The application finishes the messages in hand and stops; answer with WorkStopped."""

    queue: Queue
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class AbandonWork:
    """The application took too long: deliver no message of the queue, and ignore its progress."""

    queue: Queue
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class StopEverything:
    """The lease is over: stop all work at once; answer each queue with WorkStopped.

    What the application holds without an epoch stops as well; then it answers with Unfollowed.
    """

    reason: str
    work: tuple[tuple[Queue, Epoch], ...]


@dataclass(frozen=True, slots=True)
class CommitProgress:
    """Commit positions to the data plane before `not_after_ms`; answer with CommitFinished."""

    entries: tuple[Progress, ...]
    not_after_ms: int


@dataclass(frozen=True, slots=True)
class NewIncarnationNeeded:
    """Read the generations to their end and draw a new incarnation; answer with Started."""

    reason: str


@dataclass(frozen=True, slots=True)
class ReportNotice:
    """Pass the engine's notice on to the application."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The client is closed; `error` is what closed it, None if the application did."""

    error: Exception | None


Action = (
    SendHeartbeat
    | SendProgress
    | SendClaims
    | SendRelease
    | SendLeave
    | SendFormer
    | Follow
    | Freeze
    | StopFollowing
    | StartWork
    | StopWork
    | AbandonWork
    | StopEverything
    | CommitProgress
    | NewIncarnationNeeded
    | ReportNotice
    | Stopped
)
