"""The words of one poll: what the client says, and what its session answers."""

from dataclasses import dataclass

from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session.states import Standing
from fairlead_client.thin.thin_words import (
    Frozen,
    NoticeWords,
    PollAnswer,
    Start,
    Stop,
    Stopped,
    WaitingWords,
    Work,
)

__all__ = ["Answer", "Lost", "Poll", "UnexpectedStopError", "UnfitStandbyError"]


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
        standing: where one is that stands by; None: it does not say.
        frozen: all that it holds, in answer to a freeze; None: it has no answer.
        ending: these are its last words, and nothing runs any more.
    """

    sequence: int
    working: tuple[Work, ...] = ()
    stopped: tuple[Stopped, ...] = ()
    subscriptions: tuple[Subscription, ...] | None = None
    leaving: bool = False
    decide: bool = False
    standing: Standing | None = None
    frozen: Frozen | None = None
    ending: bool = False

    @property
    def named(self) -> set[tuple[Queue, Epoch]]:
        """The works that it names, whether they run or have stopped."""
        running = {(work.queue, work.epoch) for work in self.working}
        return running | {(work.queue, work.epoch) for work in self.stopped}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client shall do, and hears. It stops what `working` does not name at once."""

    start: tuple[Start, ...]
    stop: tuple[Stop, ...]
    working: tuple[tuple[Queue, Epoch], ...]
    waiting: WaitingWords | None = None
    notices: tuple[NoticeWords, ...] = ()
    standing: Standing = Standing.OWN
    freeze: Epoch | None = None

    def told(self, state: str, lease_ms: int) -> PollAnswer:
        """Return it as the answer to a poll."""
        news = self.start, self.stop, self.working
        standing = self.standing, self.freeze
        return PollAnswer(state, lease_ms, *news, self.waiting, self.notices, *standing)


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


class UnfitStandbyError(Exception):
    """What a poll says of standing by does not fit its session.

    Attributes:
        field: the field of the poll.
        remedy: what to do about it.
    """

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{field}: {problem}.")
        self.field, self.remedy = field, remedy
