"""A client that stands by, with a real thin session: it follows AVG, freezes, owns, follows again.

It works, answers and stops as chance has it; where its requests go is another's matter.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from fairlead_client.model import Epoch, Queue
from fairlead_client.session.states import Standing
from fairlead_client.thin import thin_session as act
from fairlead_client.thin.thin_words import Poll

__all__ = ["ThinFollower", "ThinPlace"]


class ThinPlace(Protocol):
    """Where such a client lives.

    Attributes:
        done: how far each queue was processed at most.
        committed: what the brokers have of each queue.
        end: where every queue ends.
    """

    end: int
    done: dict[Queue, int]
    committed: dict[Queue, int]

    @property
    def now_ms(self) -> int:
        """The clock of all clients."""

    def share_of(self, consumer: str) -> list[Queue]:
        """Return what the data plane's strategy gives to a consumer."""

    def join_thin(self, thin: "ThinFollower", number: int, joins: int) -> None:
        """Send a join."""

    def poll(self, thin: "ThinFollower", said: Poll, *, ending: bool) -> None:
        """Send a poll, or the last words."""

    def gone(self, thin: "ThinFollower") -> None:
        """The client has closed."""


@dataclass(slots=True, eq=False)
class ThinFollower:
    """An application with a thin session.

    Attributes:
        held: what it works on, and the next offset of each.
        names: the epochs of these works; None: it holds the queue by following.
        starts: how often it began a queue that it did not have.
        repeats: how many messages it read again because of that.
    """

    client_id: str
    place: ThinPlace
    session: act.ThinSession = field(default_factory=lambda: act.ThinSession(stands_by=True))
    held: dict[Queue, int] = field(default_factory=dict)
    names: dict[Queue, Epoch | None] = field(default_factory=dict)
    stopping: set[Queue] = field(default_factory=set)
    starts: int = 0
    repeats: int = 0
    stops: int = 0
    gone: bool = False
    _freeze: Epoch | None = None
    _unfollows: bool = False
    _joins: int = 0

    @property
    def consumer(self) -> str:
        """The id under which the brokers list it."""
        return f"10.0.0.{self.client_id}@1"

    @property
    def now_ms(self) -> int:
        """Its clock."""
        return self.place.now_ms

    def may_work(self, queue: Queue) -> bool:
        """Tell whether its gate lets a message of this queue through now."""
        name = self.names[queue]
        if name is None:
            return self.session.follows(self.now_ms)
        return self.session.works(queue, self.now_ms) == name

    # What the session wants.
    def do(self, actions: list[act.Action]) -> None:
        """Do what the session wants."""
        for action in actions:
            match action:
                case act.SendJoin(number):
                    self._joins += 1
                    self.place.join_thin(self, number, self._joins)
                case act.SendPoll(poll):
                    self.place.poll(self, poll, ending=False)
                case act.SendLeave(poll):
                    self.place.poll(self, poll, ending=True)
                case act.Close():
                    self.gone = True
                    self.place.gone(self)
                case _:
                    self._obey(action)

    def _obey(self, action: act.Action) -> None:
        match action:
            case act.StartWork(queue, epoch, former=True):
                assert queue in self.held, "it goes on with what it holds"
                self.names[queue] = epoch
            case act.StartWork(queue, epoch, offset):
                assert queue not in self.held, "it holds the queue already"
                reached = self.place.done.get(queue, 0)
                assert offset <= reached, f"skips messages of {queue}"
                self.repeats += reached - offset
                self.held[queue], self.names[queue] = offset, epoch
                self.starts += 1
            case act.StopWork(queue, epoch):
                assert self.names[queue] == epoch
                self.stopping.add(queue)
            case act.Abandon(queue, _):
                self._drop(queue)
            case act.Follow():
                self.names = dict.fromkeys(self.names)
                self.stopping.clear()
                self._freeze = None
            case act.Freeze(epoch):
                self.names = dict.fromkeys(self.names)
                self.stopping.clear()
                self._freeze = epoch
            case act.StopFollowing() | act.StopAll():
                self.stopping |= self.held.keys()
                self._freeze, self._unfollows = None, True

    def _drop(self, queue: Queue) -> None:
        del self.held[queue], self.names[queue]
        self.stopping.discard(queue)
        self.stops += 1

    # What the application does.
    def go_on(self, chance: Random) -> None:
        """Follow, work, answer and stop, as far as chance has it."""
        if self.gone:
            return
        self.do(self.session.passed(self.now_ms))
        self._rebalance()
        for queue in list(self.held):
            if self.may_work(queue):
                self._work(queue, chance.randrange(4))
        if self._freeze is not None and chance.random() < 0.5:
            self._answer_freeze(self._freeze)
        for queue in sorted(self.stopping):
            if chance.random() < 0.6:
                self._stop(queue)
        if self._unfollows and not any(name is None for name in self.names.values()):
            self._unfollows = False
            self.do(self.session.unfollowed(self.now_ms))

    def _rebalance(self) -> None:
        if self.session.standing is not Standing.FOLLOW or not self.session.follows(self.now_ms):
            return
        if self._unfollows:
            return
        mine = set(self.place.share_of(self.consumer))
        for queue in set(self.held) - mine:
            self._drop(queue)
        for queue in mine - set(self.held):
            self.held[queue] = self.place.committed.get(queue, 0)
            self.names[queue] = None

    def _work(self, queue: Queue, messages: int) -> None:
        at = self.held[queue] = min(self.held[queue] + messages, self.place.end)
        self.place.done[queue] = max(at, self.place.done.get(queue, 0))
        self.place.committed[queue] = at
        name = self.names[queue]
        if name is not None:
            self.do(self.session.progressed(queue, name, at, None, self.now_ms))

    def _answer_freeze(self, epoch: Epoch) -> None:
        self._freeze = None
        self.names = dict.fromkeys(self.held, epoch)
        self.do(self.session.frozen(epoch, dict(self.held), self.now_ms))

    def _stop(self, queue: Queue) -> None:
        name, at = self.names[queue], self.held[queue]
        self._drop(queue)
        if name is not None:
            self.do(self.session.stopped(queue, name, at, None, self.now_ms))

    def leave(self) -> None:
        """Close the client in order."""
        self.do(self.session.leave(self.now_ms))
