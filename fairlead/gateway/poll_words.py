"""The words of one poll: what the client says, and what its session answers."""

from dataclasses import dataclass

from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.thin.thin_words import (
    NoticeWords,
    PollAnswer,
    Start,
    Stop,
    Stopped,
    WaitingWords,
    Work,
)

__all__ = ["Answer", "Lost", "Poll", "UnexpectedStopError"]


@dataclass(frozen=True, slots=True)
class Poll:
    """The words of one poll.

    Attributes:
        sequence: greater than that of every earlier poll of the session.
        working: what the client works on.
        stopped: what it has stopped since its last answered poll.
        subscriptions: its new subscriptions; None: as before.
        leaving: the client starts nothing more, whatever an answer tells it.
        decide: the client wants the engine to decide at once.
    """

    sequence: int
    working: tuple[Work, ...] = ()
    stopped: tuple[Stopped, ...] = ()
    subscriptions: tuple[Subscription, ...] | None = None
    leaving: bool = False
    decide: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client shall do, and hears. It stops what `working` does not name at once."""

    start: tuple[Start, ...]
    stop: tuple[Stop, ...]
    working: tuple[tuple[Queue, Epoch], ...]
    waiting: WaitingWords | None = None
    notices: tuple[NoticeWords, ...] = ()

    def told(self, state: str, lease_ms: int) -> PollAnswer:
        """Return it as the answer to a poll."""
        news = self.start, self.stop, self.working
        return PollAnswer(state, lease_ms, *news, self.waiting, self.notices)


@dataclass(frozen=True, slots=True)
class Lost:
    """The session is over, and `reason` says why; the client stops everything."""

    reason: str
    message: str


class UnexpectedStopError(Exception):
    """The client says that it stopped work which nobody asked it to stop.

    Attributes:
        work: what it named.
    """

    def __init__(self, work: Stopped) -> None:
        super().__init__(f"{work.queue} of epoch {work.epoch} was not asked to stop")
        self.work = work
