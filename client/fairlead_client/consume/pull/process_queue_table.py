"""Which queues a pull service works on, and how far each is consumed: the session's application.

Between three kinds of threads: the session's, which starts and stops work, the pull service's, and
those that consume. Nothing here waits.
"""

from collections.abc import Callable, Iterable
from threading import RLock
from time import monotonic
from typing import Final

from fairlead_client.consume.pull.process_queue import ProcessQueue
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.clock import now_ms
from fairlead_client.session.events import Event, ProgressMade, WorkStopped
from fairlead_client.session.observer import Observer

IDLE_MS: Final = 10_000


class ProcessQueueTable:
    """The process queues of one client.

    A queue that comes back has a new one, which begins where its add says: nothing that an
    earlier tenure pulled, consumed or remembered is in it.

    Args:
        observer: is told when work begins and ends.
        begun: told of each new process queue, on the session's thread; must not wait.
        changed: told of the topic whenever a queue of it comes or goes; likewise.
        clock: returns milliseconds.
    """

    def __init__(
        self,
        observer: Observer,
        begun: Callable[[ProcessQueue], None],
        changed: Callable[[str], None],
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self._observer = observer
        self._begun = begun
        self._changed = changed
        self._lock = RLock()
        self._works: dict[Queue, ProcessQueue] = {}
        self._touched: list[ProcessQueue] = []
        self._report: Callable[[Event], None] = lambda _event: None
        self._ended: Callable[[], None] = lambda: None
        self._clock = clock
        self._idle_told_ms = clock()
        self._giving_up = False
        self.over = False

    def connect(self, report: Callable[[Event], None], ended: Callable[[], None]) -> None:
        """Say where answers go, and whom to tell that nothing will be started any more."""
        self._report = report
        self._ended = ended

    # What the session's thread calls.
    def start_work(self, queue: Queue, epoch: Epoch, position: Position) -> None:
        """Messages of the queue may be pulled."""
        with self._lock:
            self._observer.work_started(queue, epoch, position.offset)
            work = self._works[queue] = ProcessQueue(queue, epoch, position.offset)
            # Until the first pull is tried it is idle from here on.
            work.last_pull_ms = self._clock()
        self._begun(work)
        self._changed(queue.topic)

    def stop_work(self, queue: Queue, epoch: Epoch) -> None:
        """Hand out nothing more; the work has stopped when nothing is in hand."""
        with self._lock:
            work = self._works.get(queue)
            if work is None or work.epoch != epoch or work.stopping:
                return
            work.stopping_since = monotonic()
            if work.stop() or self._giving_up:
                self._stopped(work)
        self._changed(queue.topic)

    def abandon_work(self, queue: Queue, epoch: Epoch) -> None:
        """Forget the queue; what is in hand of it does not count any more."""
        with self._lock:
            work = self._works.get(queue)
            if work is None or work.epoch != epoch:
                return
            work.drop()
            del self._works[queue]
            self._observer.work_stopped(queue, epoch, work.position)
        self._changed(queue.topic)

    def stop_everything(self, work: Iterable[tuple[Queue, Epoch]]) -> None:
        """Stop each; one that has stopped before has said so."""
        for queue, epoch in work:
            self.stop_work(queue, epoch)

    def collect_progress(self) -> list[ProgressMade]:
        """Return how far the queues are in which something was consumed since the last time.

        Every 10 s also those that nobody tried to pull for longer than that, and for how long.
        """
        at_ms = self._clock()
        tells_idle = at_ms - self._idle_told_ms >= IDLE_MS
        if not self._touched and not tells_idle:
            return []
        with self._lock:
            touched, self._touched = self._touched, []
            idle: list[ProcessQueue] = []
            if tells_idle:
                self._idle_told_ms = at_ms
                idle = [
                    work
                    for work in self._works.values()
                    if work.last_pull_ms is not None and at_ms - work.last_pull_ms > IDLE_MS
                ]
            made = [
                ProgressMade(work.queue, work.epoch, work.report_position(), work.end)
                for work in touched
                if self._works.get(work.queue) is work
            ]
            return made + [
                ProgressMade(
                    work.queue,
                    work.epoch,
                    work.report_position(),
                    work.end,
                    idle_ms=at_ms - (work.last_pull_ms or 0),
                )
                for work in idle
            ]

    def closed(self) -> None:
        """Nothing is pulled or handed out any more."""
        with self._lock:
            self.over = True
            for work in self._works.values():
                work.drop()
            self._works.clear()
        self._ended()

    # What the other threads call.
    def touch(self, work: ProcessQueue) -> None:
        """Something of the queue was pulled or consumed: its position may have moved."""
        if work.mark_touched():
            with self._lock:
                self._touched.append(work)

    def settle(self, work: ProcessQueue) -> None:
        """A batch of the queue came out of hand."""
        self.touch(work)
        if work.stopping and work.idle:
            with self._lock:
                if self._works.get(work.queue) is work:
                    self._stopped(work)

    def doubt(self, queue: Queue) -> None:
        """The application heard that a queue is not its: what is in hand of it does not count."""
        work = self._works.get(queue)
        if work is not None:
            work.doubt = object()

    def give_up(self) -> None:
        """Nothing in hand will be finished: whatever stops, stops where it is."""
        with self._lock:
            self._giving_up = True
            for work in [work for work in self._works.values() if work.stopping]:
                self._stopped(work)

    def works(self) -> list[ProcessQueue]:
        """Return the queues of which messages may be handed out, in their order."""
        with self._lock:
            return sorted(
                (work for work in self._works.values() if not work.stopping),
                key=lambda work: work.queue,
            )

    def work(self, queue: Queue) -> ProcessQueue | None:
        """Return the process queue of a queue of which messages may be handed out."""
        work = self._works.get(queue)
        return None if work is None or work.stopping else work

    def _stopped(self, work: ProcessQueue) -> None:
        position = work.position
        work.drop()
        del self._works[work.queue]
        if work.stopping_since is not None:
            self._observer.revoke_took(monotonic() - work.stopping_since)
        self._observer.work_stopped(work.queue, work.epoch, position)
        self._report(WorkStopped(work.queue, work.epoch, position, work.end))
