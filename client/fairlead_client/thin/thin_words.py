"""What a thin client and the gateway say to each other, as values."""

from dataclasses import dataclass

from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session.states import Standing

__all__ = [
    "Frozen",
    "Joined",
    "Left",
    "NoticeWords",
    "Poll",
    "PollAnswer",
    "Request",
    "Start",
    "Stop",
    "Stopped",
    "WaitingWords",
    "Work",
]


@dataclass(frozen=True, slots=True)
class Work:
    """What the client works on. `position` is the next offset; `end` where the queue ends now."""

    queue: Queue
    epoch: Epoch
    position: int
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """What the client has stopped. `position` is the next offset to read."""

    queue: Queue
    epoch: Epoch
    position: int
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Frozen:
    """The answer to a freeze: all queues that the client holds, each with the next offset to read.

    An offset of None is not known.
    """

    epoch: Epoch
    queues: tuple[tuple[Queue, int | None], ...]


@dataclass(frozen=True, slots=True)
class Start:
    """The client may read the queue from `offset` on.

    Attributes:
        queue: the queue.
        epoch: the epoch of the work.
        offset: where it begins.
        why: what gave the client the queue.
        reset: the operator's reset that the offset follows; a commit of an offset names it.
        identity: the identity of the topic to which the offset belongs; None: not known.
        granted: where the engine itself would begin: `offset` may lie behind the queue's end, if
            the former holder said so. None: not known.
        former: whether the client holds the queue frozen and goes on in place, wherever it is.
    """

    queue: Queue
    epoch: Epoch
    offset: int
    why: str = ""
    reset: int = 0
    identity: str | None = None
    granted: int | None = None
    former: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """The client has to stop the queue, and to say so within `deadline_ms`."""

    queue: Queue
    epoch: Epoch
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class Joined:
    """The answer to a join. `poll_ms` is the longest time between two polls."""

    session: str
    state: str
    client_id: str
    lease_ms: int
    poll_ms: int


@dataclass(frozen=True, slots=True)
class WaitingWords:
    """Why the client waits for queues, in one word and in a sentence."""

    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class NoticeWords:
    """What the engine has to say to the client; the same may come again."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class PollAnswer:
    """The answer to a poll. The client stops what `working` does not name at once.

    `standing` says who decides what the client holds; `freeze` names the freeze that it answers.
    """

    state: str
    lease_ms: int
    start: tuple[Start, ...] = ()
    stop: tuple[Stop, ...] = ()
    working: tuple[tuple[Queue, Epoch], ...] = ()
    waiting: WaitingWords | None = None
    notices: tuple[NoticeWords, ...] = ()
    standing: Standing = Standing.OWN
    freeze: Epoch | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """The answer to the last request: the session has ended, as the client wanted."""


@dataclass(frozen=True, slots=True)
class Poll:
    """A poll, as the client sends it. With `decide` it wants the engine to decide at once.

    `standing` is where one is that stands by; None: the client cannot. `frozen` answers the freeze
    that the newest answer told; None: there is none, or no answer yet.
    """

    session: str
    state: str
    sequence: int
    wait_ms: int
    working: tuple[Work, ...]
    stopped: tuple[Stopped, ...]
    subscriptions: tuple[Subscription, ...] | None = None
    leaving: bool = False
    decide: bool = False
    standing: Standing | None = None
    frozen: Frozen | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A request, as HTTP carries it.

    Attributes:
        number: names it in its reply.
        method: POST or DELETE.
        path: the path.
        body: a JSON object.
        patience_ms: how long to wait for the reply.
        key: makes it safe to repeat; "": it is so by itself.
    """

    number: int
    method: str
    path: str
    body: bytes
    patience_ms: int
    key: str = ""
