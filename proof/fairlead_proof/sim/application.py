"""An application that reads its queues: what it works on, how fast, and how it stops."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from fairlead_client.model import Epoch, Position, Queue

from fairlead_proof.sim.chance import Chance

__all__ = ["Application", "Host", "Observer", "Work"]

SLOWLY_MS = 300
"""An application usually takes at most this long to stop."""


class Host(Protocol):
    """The client process that an application is part of."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def application(self) -> "Application":
        """Its application."""

    def owns(self, work: "Work") -> bool:
        """Tell whether the application may still process messages of this work."""


class Observer(Protocol):
    """Observes clients, and judges them."""

    def started(self, client: "Host", work: "Work") -> None:
        """Work on a queue begins."""

    def processed(self, client: "Host", work: "Work") -> None:
        """Everything below the work's offset is processed."""

    def ended(self, client: "Host", work: "Work") -> None:
        """The work on a queue is over."""

    def turn_taken(self, client: "Host") -> None:
        """A process has run its turn."""

    def handler_finished(self, work: "Work", offset: int) -> None:
        """An abandoned handler has processed everything below this offset."""


@dataclass(slots=True)
class Work:
    """The work on one queue under one epoch.

    ``begin`` is where it began and ``offset`` the next message. ``reported``: the offset that the
    session knows. ``stops_ms``: when it will have stopped; None: nobody has asked it to stop.
    """

    queue: Queue
    epoch: Epoch
    incarnation: str
    begin: Position
    offset: int
    reported: int
    stops_ms: int | None = None


class Application:
    """The works of one process.

    Attributes:
        works: queue -> its work.
        slow_ms: how much longer it takes to stop, the next few times.
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
        """Begin to stop; return when it will have stopped, None if there is no such work."""
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
        """Yield the works that have stopped by now, after the message in hand."""
        for queue in [queue for queue, work in self.works.items() if work.stops_ms is not None]:
            work = self.works[queue]
            if work.stops_ms is not None and work.stops_ms <= now_ms:
                yield work

    def finish(self, work: Work, *, in_hand: int) -> None:
        """Process the message in hand, and end the work."""
        if in_hand:
            work.offset += in_hand
            self._observer.processed(self._host, work)
        del self.works[work.queue]
        self._observer.ended(self._host, work)

    def abandon(self, queue: Queue, epoch: Epoch) -> Work | None:
        """Abandon the work with a message in hand, and return it."""
        work = self.works.get(queue)
        if work is None or work.epoch != epoch:
            return None
        del self.works[queue]
        self._observer.ended(self._host, work)
        return work

    def process(self, work: Work, most: int) -> None:
        """Process at most this many messages of a queue."""
        work.offset += self._chance.below(most + 1)
        self._observer.processed(self._host, work)

    def die(self) -> None:
        """End at once, with messages in hand."""
        for work in self.works.values():
            self._observer.ended(self._host, work)
        self.works.clear()
