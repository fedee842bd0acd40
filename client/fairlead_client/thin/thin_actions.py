"""What a thin session wants done."""

from dataclasses import dataclass, field

from fairlead_client.model import Epoch, Queue
from fairlead_client.thin.thin_words import Poll, Start

__all__ = [
    "Abandon",
    "Action",
    "Close",
    "Follow",
    "Freeze",
    "SendJoin",
    "SendLeave",
    "SendPoll",
    "StartWork",
    "StopAll",
    "StopFollowing",
    "StopWork",
]


@dataclass(frozen=True, slots=True)
class SendJoin:
    """Send a join; answer with `joined`, `failed` or `lost`."""

    number: int


@dataclass(frozen=True, slots=True)
class SendPoll:
    """Give the poll under way up, and send this one; answer with `answered`, `failed`, `lost`."""

    poll: Poll


@dataclass(frozen=True, slots=True)
class SendLeave:
    """Give the poll under way up, and end the session; answer with `left` or `failed`."""

    poll: Poll


@dataclass(frozen=True, slots=True)
class StartWork:
    """Read the queue from this offset on; `start` has more about it.

    With `former` the application holds the queue frozen, and goes on in place under this epoch: it
    neither stops nor starts, and `offset` does not count.
    """

    queue: Queue
    epoch: Epoch
    offset: int
    start: Start | None = field(default=None, compare=False)
    former: bool = False


@dataclass(frozen=True, slots=True)
class StopWork:
    """Finish what is in hand and stop; answer with `stopped`.

    The epoch of a freeze names a queue that the application holds since then without a grant.
    """

    queue: Queue
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class Abandon:
    """Stop this work at once: the deadline is over. No answer is wanted."""

    queue: Queue
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class StopAll:
    """Stop all work at once: the lease is over; answer each work with `stopped`.

    What the application holds by following stops as well; then it answers with `unfollowed`.
    """

    reason: str
    work: tuple[tuple[Queue, Epoch], ...]


@dataclass(frozen=True, slots=True)
class Follow:
    """Follow the data plane's former strategy from now on, and keep what is held until then."""


@dataclass(frozen=True, slots=True)
class Freeze:
    """Keep exactly what is held, take nothing, follow nothing; answer with `frozen`."""

    epoch: Epoch


@dataclass(frozen=True, slots=True)
class StopFollowing:
    """Stop all that is held without a grant; answer with `unfollowed` when nothing of it runs."""


@dataclass(frozen=True, slots=True)
class Close:
    """The session is closed; `reason` says who closed it."""

    reason: str


Action = (
    SendJoin
    | SendPoll
    | SendLeave
    | StartWork
    | StopWork
    | Abandon
    | StopAll
    | Follow
    | Freeze
    | StopFollowing
    | Close
)
