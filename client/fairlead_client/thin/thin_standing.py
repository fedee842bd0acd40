"""What a thin client holds, and who decides that: the gateway, its data plane, or nobody.

A client that stands by follows the strategy that its data plane has always had, until it hears
`freeze`. It answers with all that it holds, and keeps it; the answer without `standby` grants it
just these queues, and it goes on in place. So a group is taken over while nothing moves.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fairlead_client.model import Epoch, Queue
from fairlead_client.session.states import Standing
from fairlead_client.thin.thin_actions import (
    Action,
    Follow,
    Freeze,
    StartWork,
    StopFollowing,
    StopWork,
)
from fairlead_client.thin.thin_words import Frozen, PollAnswer, Start, Stopped, Work

__all__ = ["Held", "ThinStanding"]


@dataclass(slots=True)
class Held:
    """A queue that the client works on.

    Attributes:
        epoch: names the work to the application; of a frozen one it is the freeze's.
        position: the next offset to read; None: not known, of a frozen one alone.
        granted: names the work to the gateway; None: frozen, and not granted.
        end: where the queue ends now; None: not known.
        stopping: whether the application was asked to stop.
    """

    epoch: Epoch
    position: int | None
    granted: Epoch | None
    end: int | None = None
    stopping: bool = False

    def report(self, offset: int | None, end: int | None) -> None:
        """Note where the application is; None: as before."""
        self.position = offset if offset is not None else self.position
        self.end = end if end is not None else self.end

    def stop(self, queue: Queue) -> list[Action]:
        """Ask the application to stop, once."""
        if self.stopping:
            return []
        self.stopping = True
        return [StopWork(queue, self.epoch)]


@dataclass(slots=True)
class ThinStanding:
    """What the client holds.

    Attributes:
        stands_by: whether it can follow its data plane's strategy.
        now: who decides what it holds.
        works: the queues that have an epoch: granted, or named in the answer to a freeze.
        is_loose: whether the application may hold queues without one, by following.
        freeze: the freeze that it has to answer; None: it hears none.
    """

    stands_by: bool = False
    now: Standing = Standing.OWN
    works: dict[Queue, Held] = field(default_factory=dict)
    is_loose: bool = False
    freeze: Epoch | None = None
    _has_skipped: bool = False

    def begin(self) -> None:
        """Begin anew: the next session holds nothing until an answer says so."""
        self.now = Standing.WAIT if self.stands_by else Standing.OWN
        self.freeze = None
        self._has_skipped = False

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs."""
        return not self.works and not self.is_loose

    @property
    def is_followed(self) -> bool:
        """Whether the application may work on what it holds by following."""
        return self.is_loose and self.now in (Standing.FOLLOW, Standing.FREEZE)

    @property
    def reached(self) -> Standing:
        """Where the client is: it is at `own` once nothing runs without a grant."""
        if self.now is not Standing.OWN or not (self.is_loose or self._ungranted):
            return self.now
        return Standing.FOLLOW if self.is_loose else Standing.FREEZE

    @property
    def _ungranted(self) -> list[tuple[Queue, int | None]]:
        held = self.works.items()
        return [(queue, each.position) for queue, each in held if each.granted is None]

    @property
    def starts_wait(self) -> bool:
        """Whether an answer has told starts that had to wait, and that may come now."""
        return self._has_skipped and not self.is_loose and not self._ungranted

    @property
    def answer(self) -> Frozen | None:
        """The answer to the newest freeze; None: it has none, or the application no answer."""
        if self.now is not Standing.FREEZE or self.is_loose or self.freeze is None:
            return None
        frozen = self.works.items()
        return Frozen(self.freeze, tuple((queue, held.position) for queue, held in frozen))

    def hear(self, answer: PollAnswer, *, leaves: bool) -> list[Action]:
        """Take in who decides now; one that leaves begins nothing, and stops as before."""
        told = answer.standing, answer.freeze
        if told == (self.now, self.freeze):
            return []
        self.now, self.freeze = told
        if self.now is Standing.OWN:
            return self._own(answer.start, leaves=leaves)
        if leaves:
            return self._stop_works()
        if self.now is Standing.WAIT:
            return []
        self.works.clear()
        self.is_loose = True
        return [Follow()] if self.freeze is None else [Freeze(self.freeze)]

    def _own(self, starts: Iterable[Start], *, leaves: bool) -> list[Action]:
        done: list[Action] = [StopFollowing()] if self.is_loose and not leaves else []
        former = {start.queue: start for start in starts if start.former}
        for queue, held in self.works.items():
            start = former.get(queue)
            if start is None:
                done += held.stop(queue)
                continue
            held.granted = start.epoch
            held.position = start.offset if held.position is None else held.position
            if not held.stopping:
                held.epoch = start.epoch
                done.append(StartWork(queue, start.epoch, start.offset, start, former=True))
        return done

    def frozen(self, epoch: Epoch, held: Iterable[tuple[Queue, int | None]]) -> bool:
        """Take in all that the application holds; tell whether that answers the newest freeze."""
        if not self.is_loose or self.now is not Standing.FREEZE or epoch != self.freeze:
            return False
        self.is_loose = False
        self.works = {queue: Held(epoch, position, None) for queue, position in held}
        return True

    def start(self, starts: Iterable[Start]) -> list[Action]:
        """Start what is granted. A start that cannot begin yet comes again with later answers."""
        self._has_skipped = False
        done: list[Action] = []
        for start in starts:
            held = self.works.get(start.queue)
            if self.is_loose or (held is not None and held.granted is None):
                self._has_skipped = True
            elif held is None:
                self.works[start.queue] = Held(start.epoch, start.offset, start.epoch)
                done.append(StartWork(start.queue, start.epoch, start.offset, start))
        return done

    def stop_all(self) -> list[Action]:
        """Ask the application to stop everything in order."""
        following: list[Action] = [StopFollowing()] if self.is_loose else []
        return following + self._stop_works()

    def _stop_works(self) -> list[Action]:
        return [done for queue, held in self.works.items() for done in held.stop(queue)]

    def granted(self) -> Iterator[tuple[Queue, Epoch, Held]]:
        """Yield the works that the gateway knows, by the name that it knows."""
        for queue, held in list(self.works.items()):
            if held.granted is not None:
                yield queue, held.granted, held

    def said_works(self) -> tuple[Work, ...]:
        """Return where the granted works are."""
        return tuple(Work(*_said(*each)) for each in self.granted())

    def remove(self, queue: Queue) -> Stopped | None:
        """Hold a queue no longer; return what the gateway is to hear, None: it knows of none."""
        held = self.works.pop(queue)
        return None if held.granted is None else Stopped(*_said(queue, held.granted, held))


def _said(queue: Queue, epoch: Epoch, held: Held) -> tuple[Queue, Epoch, int, int | None]:
    assert held.position is not None, "a grant has a position"
    return queue, epoch, held.position, held.end
