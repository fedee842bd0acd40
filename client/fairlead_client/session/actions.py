"""What a session wants done, as imperatives. The caller does each, in order, and reports back."""

from dataclasses import dataclass

from fairlead_client.model import Epoch, Position, Progress, Queue, Subscription


@dataclass(frozen=True, slots=True)
class Claim:
    """One queue that the incarnation ever started: `running`, or `final` where it stopped."""

    queue: Queue
    epoch: Epoch
    position: Position
    state: str
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class SendHeartbeat:
    """Write a heartbeat; answer with HeartbeatAppended or HeartbeatFailed.

    Take the time for `sent_at_ms` *before* handing it to the producer.
    """

    incarnation: str
    incarnations: int
    sequence: int
    generation: int
    subscriptions: tuple[Subscription, ...]
    applied: Epoch | None
    digest: str
    decide: bool = False
    """It asks the engine for a decision."""


@dataclass(frozen=True, slots=True)
class SendProgress:
    """Write progress; answer only failure, with ProgressFailed."""

    incarnation: str
    entries: tuple[Progress, ...]


@dataclass(frozen=True, slots=True)
class SendClaims:
    """Write claims, in parts if need be; answer with ClaimsAppended or ClaimsFailed."""

    incarnation: str
    generation: int
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class SendRelease:
    """Write a release; answer with ReleaseAppended or ReleaseFailed.

    `last_started` is set if the client leaves: the newest epoch under which it started anything. It
    starts nothing newer. `successor` is the client that waits for the release, if that is known.
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
class StartWork:
    """The application may read the queue from `position` on."""

    queue: Queue
    epoch: Epoch
    position: Position


@dataclass(frozen=True, slots=True)
class StopWork:
    """The application finishes what it has in hand and stops; answer with WorkStopped."""

    queue: Queue
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class AbandonWork:
    """The application took too long: deliver nothing more of the queue, refuse its commits."""

    queue: Queue
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class StopEverything:
    """The lease is over: stop all work at once; answer each queue named with WorkStopped."""

    reason: str
    work: tuple[tuple[Queue, Epoch], ...]


@dataclass(frozen=True, slots=True)
class CommitProgress:
    """Commit positions to the data plane, not later than `not_after_ms`; answer CommitFinished."""

    entries: tuple[Progress, ...]
    not_after_ms: int


@dataclass(frozen=True, slots=True)
class NewIncarnationNeeded:
    """Draw a fresh incarnation, read the generations to their end, answer with Started."""

    reason: str


@dataclass(frozen=True, slots=True)
class ReportNotice:
    """Tell the application what the engine said."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The client is closed, with the error that closed it or None."""

    error: Exception | None


Action = (
    SendHeartbeat
    | SendProgress
    | SendClaims
    | SendRelease
    | SendLeave
    | StartWork
    | StopWork
    | AbandonWork
    | StopEverything
    | CommitProgress
    | NewIncarnationNeeded
    | ReportNotice
    | Stopped
)
