"""The process queues of a pulling client, and their progress: its side of the session.

Three kinds of threads use it: the session's starts and stops work, the pull service's pulls, and
others consume. No method waits.
"""

from collections.abc import Callable
from threading import RLock
from time import monotonic
from typing import Final

from fairlead_client.consume.pull.process_queue import ProcessQueue
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.application import Application
from fairlead_client.session.clock import now_ms
from fairlead_client.session.events import Event, ProgressMade, WorkStopped
from fairlead_client.session.observer import Observer

IDLE_MS: Final = 10_000


class ProcessQueueTable(Application):
    """The process queues of one client (RocketMQ's processQueueTable).

    A queue that comes back gets a new process queue, which begins where its add says and has
    nothing of an earlier tenure.

    Args:
        observer: receives the starts and stops of work.
        begun: called with each new process queue, on the session's thread; must not wait.
        changed: called with the topic of each queue that comes or goes; must not wait.
        clock: returns the time in ms.
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
        self._idle_reported_ms = clock()
        self._giving_up = False
        self.over = False

    def connect(self, report: Callable[[Event], None], ended: Callable[[], None]) -> None:
        """Set where answers go, and what to call when the session has ended."""
        self._report = report
        self._ended = ended

    # The session's thread calls these.
    def start_work(self, queue: Queue, epoch: Epoch, position: Position) -> None:
        """Let the client pull the queue."""
        with self._lock:
            self._observer.work_started(queue, epoch, position.offset)
            work = self._works[queue] = ProcessQueue(queue, epoch, position.offset)
            # Its idle time counts from here until the first pull.
            work.last_pull_ms = self._clock()
        self._begun(work)
        self._changed(queue.topic)

    def stop_work(self, queue: Queue, epoch: Epoch) -> None:
        """Hand out no more messages; the work has stopped when none is in hand."""
        with self._lock:
            work = self._works.get(queue)
            if work is None or work.epoch != epoch or work.stopping:
                return
            work.stopping_since = monotonic()
            if work.stop() or self._giving_up:
                self._stopped(work)
        self._changed(queue.topic)

    def abandon_work(self, queue: Queue, epoch: Epoch) -> None:
        """Forget the queue; its messages in hand no longer count."""
        with self._lock:
            work = self._works.get(queue)
            if work is None or work.epoch != epoch:
                return
            work.drop()
            del self._works[queue]
            self._observer.work_stopped(queue, epoch, work.position)
        self._changed(queue.topic)

    def collect_progress(self) -> list[ProgressMade]:
        """Return the progress of the queues that changed since the last call.

        Every 10 s it adds the queues that nobody has tried to pull for longer than that, with
        their idle time.
        """
        at_ms = self._clock()
        reports_idle = at_ms - self._idle_reported_ms >= IDLE_MS
        if not self._touched and not reports_idle:
            return []
        with self._lock:
            touched, self._touched = self._touched, []
            idle: list[ProcessQueue] = []
            if reports_idle:
                self._idle_reported_ms = at_ms
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
        """End all work: nothing is pulled or handed out any more."""
        with self._lock:
            self.over = True
            for work in self._works.values():
                work.drop()
            self._works.clear()
        self._ended()

    # The other threads call these.
    def touch(self, work: ProcessQueue) -> None:
        """Note that messages were pulled or consumed, so the position may have moved."""
        if work.mark_touched():
            with self._lock:
                self._touched.append(work)

    def batch_ended(self, work: ProcessQueue) -> None:
        """Note that a batch is no longer in hand; a stopping queue may now have stopped."""
        self.touch(work)
        if work.stopping and work.idle:
            with self._lock:
                if self._works.get(work.queue) is work:
                    self._stopped(work)

    def mark_doubtful(self, queue: Queue) -> None:
        """Note that the application heard it does not own a queue: messages in hand don't count."""
        work = self._works.get(queue)
        if work is not None:
            work.doubt = object()

    def give_up(self) -> None:
        """Stop all stopping queues where they are: nobody will finish the messages in hand."""
        with self._lock:
            self._giving_up = True
            for work in [work for work in self._works.values() if work.stopping]:
                self._stopped(work)

    def working(self) -> list[ProcessQueue]:
        """Return the process queues whose messages may be handed out, in order."""
        with self._lock:
            return sorted(
                (work for work in self._works.values() if not work.stopping),
                key=lambda work: work.queue,
            )

    def find(self, queue: Queue) -> ProcessQueue | None:
        """Return a queue's process queue if its messages may be handed out, else None."""
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
