"""An application that reads the queues it was given: what it works on, how fast, how it stops."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from fairlead_client.model import Epoch, Position, Queue

from fairlead_proof.sim.chance import Chance

__all__ = ["Application", "Host", "Observer", "Work"]

SLOWLY_MS = 300
"""So long at most an application usually takes to stop."""


class Host(Protocol):
    """The client process that an application is part of."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def application(self) -> "Application":
        """The application that it has by now."""

    def owns(self, work: "Work") -> bool:
        """Tell whether the application may still process messages of this work."""


class Observer(Protocol):
    """Who looks on and judges."""

    def started(self, client: "Host", work: "Work") -> None:
        """Work on a queue begins."""

    def processed(self, client: "Host", work: "Work") -> None:
        """Everything below the work's offset is processed."""

    def ended(self, client: "Host", work: "Work") -> None:
        """The work on a queue is over."""

    def look(self, client: "Host") -> None:
        """A process has had a turn."""

    def handler_finished(self, work: "Work", offset: int) -> None:
        """A handler that was left behind has processed everything below this offset."""


@dataclass(slots=True)
class Work:
    """The work on one queue under one epoch.

    ``begin`` is where it began and ``offset`` the next message. ``told``: the offset that the
    session knows. ``stops_ms``: when it will have stopped; None: nobody asked it to.
    """

    queue: Queue
    epoch: Epoch
    incarnation: str
    begin: Position
    offset: int
    told: int
    stops_ms: int | None = None


class Application:
    """The works of one process.

    Attributes:
        works: queue -> its work.
        slow_ms: how long stopping takes longer than usual, the next few times.
    """

    def __init__(self, host: "Host", chance: Chance, observer: Observer) -> None:
        self._host = host
        self._chance = chance
        self._observer = observer
        self.works: dict[Queue, Work] = {}
        self.slow_ms = 0
        self.slow_times = 0

    def start(self, queue: Queue, epoch: Epoch, incarnation: str, position: Position) -> None:
        """Begin to read a queue."""
        work = Work(queue, epoch, incarnation, position, position.offset, position.offset)
        self.works[queue] = work
        self._observer.started(self._host, work)

    def stop(self, queue: Queue, epoch: Epoch, now_ms: int) -> int | None:
        """Be asked to stop; return when it will be done, None if there is no such work."""
        work = self.works.get(queue)
        if work is None or work.epoch != epoch:
            return None
        if work.stops_ms is None:
            wait_ms = self._chance.below(SLOWLY_MS)
            if self.slow_times:
                self.slow_times -= 1
                wait_ms += self.slow_ms
            work.stops_ms = now_ms + wait_ms
        return work.stops_ms

    def stopped(self, now_ms: int) -> Iterator[Work]:
        """Yield the works that have stopped by now; the message in hand was finished first."""
        for queue in [queue for queue, work in self.works.items() if work.stops_ms is not None]:
            work = self.works[queue]
            if work.stops_ms is not None and work.stops_ms <= now_ms:
                yield work

    def finish(self, work: Work, *, in_hand: int) -> None:
        """Let the message in hand be processed, and the work be over."""
        if in_hand:
            work.offset += in_hand
            self._observer.processed(self._host, work)
        del self.works[work.queue]
        self._observer.ended(self._host, work)

    def abandon(self, queue: Queue, epoch: Epoch) -> Work | None:
        """Be left behind with a message in hand; return the work."""
        work = self.works.get(queue)
        if work is None or work.epoch != epoch:
            return None
        del self.works[queue]
        self._observer.ended(self._host, work)
        return work

    def process(self, work: Work, most: int) -> None:
        """Process up to so many messages of a queue."""
        work.offset += self._chance.below(most + 1)
        self._observer.processed(self._host, work)

    def die(self) -> None:
        """End with everything in hand."""
        for work in self.works.values():
            self._observer.ended(self._host, work)
        self.works.clear()
