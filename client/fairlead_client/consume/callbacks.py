"""Calls the application's functions, one after another, on a thread of its own."""

import logging
import time
from collections.abc import Callable
from operator import index
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Final

from fairlead_client.errors import CallbackError
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.application import Application
from fairlead_client.session.events import Event, ProgressMade, WorkFailed, WorkStopped
from fairlead_client.session.observer import Observer

logger = logging.getLogger(__name__)

OnAssigned = Callable[[Queue, int], object]
OnRevoked = Callable[[Queue], int | None]
UNDECIDED_SECONDS: Final = 0.1
"""How often the client checks what became of a queue whose lease ran out."""


class Callbacks(Application):
    """The application as two functions.

    Args:
        on_assigned: called with a queue to read, and the offset to start at.
        on_revoked: called with a queue to stop; returns after the work has stopped, with the next
            offset to read, or with None for the last offset given to `processed`.
        observer: receives how long each stop took.
    """

    def __init__(self, on_assigned: OnAssigned, on_revoked: OnRevoked, observer: Observer) -> None:
        self._on_assigned = on_assigned
        self._on_revoked = on_revoked
        self._observer = observer
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._serve, name="fairlead-callbacks", daemon=True)
        self._lock = Lock()
        self._held: dict[Queue, Epoch] = {}
        self._undecided: dict[Queue, tuple[Epoch, int]] = {}
        self._progress: dict[Queue, ProgressMade] = {}
        self._report: Callable[[Event], None] = lambda _event: None
        self._still_mine: Callable[[Queue], Epoch | None] = lambda _queue: None

    def connect(
        self, report: Callable[[Event], None], still_mine: Callable[[Queue], Epoch | None]
    ) -> None:
        """Set where answers go and how to check ownership, then start the thread."""
        self._report = report
        self._still_mine = still_mine
        self._thread.start()

    @property
    def thread(self) -> Thread:
        """The thread that calls the application."""
        return self._thread

    # The session's thread calls these.
    def start_work(self, queue: Queue, epoch: Epoch, position: Position) -> None:
        """Queue a call of on_assigned."""
        self._tasks.put(lambda: self._assign(queue, epoch, position.offset))

    def stop_work(self, queue: Queue, epoch: Epoch) -> None:
        """Queue a call of on_revoked."""
        self._tasks.put(lambda: self._revoke(queue, epoch))

    def abandon_work(self, queue: Queue, epoch: Epoch) -> None:
        """Ignore its progress from now on; on_revoked is running or will run."""
        with self._lock:
            known = self._progress.get(queue)
            if known is not None and known.epoch == epoch:
                del self._progress[queue]

    def collect_progress(self) -> list[ProgressMade]:
        """Return the progress reported by `processed` since the last call."""
        if not self._progress:
            return []
        with self._lock:
            taken, self._progress = self._progress, {}
        return list(taken.values())

    def closed(self) -> None:
        """End the thread after the calls that still wait."""
        self._tasks.put(None)

    # The application calls this.
    def processed(
        self, queue: Queue, next_offset: int, epoch: Epoch | None, end: int | None = None
    ) -> bool:
        """Note progress; return False for a queue that the client does not own."""
        mine = self._still_mine(queue)
        if mine is None or (epoch is not None and epoch != mine):
            return False
        with self._lock:
            known = self._progress.get(queue)
            if known is not None and known.epoch == mine:
                next_offset = max(next_offset, known.offset)
                end = known.end if end is None else end
            self._progress[queue] = ProgressMade(queue, mine, next_offset, end)
        return True

    # The callbacks' own thread does this.
    def _serve(self) -> None:
        while True:
            try:
                task = self._tasks.get(timeout=UNDECIDED_SECONDS if self._undecided else None)
            except Empty:
                task = self._look_again
            if task is None:
                return
            task()

    def _look_again(self) -> None:
        waiting, self._undecided = self._undecided, {}
        for queue, (epoch, offset) in waiting.items():
            self._assign(queue, epoch, offset)

    def _assign(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        if self._still_mine(queue) != epoch:
            # The lease ran out first; if it is lost, the application need not know of the queue.
            self._undecided[queue] = epoch, offset
            return
        self._held[queue] = epoch
        try:
            self._on_assigned(queue, offset)
        except Exception as error:
            logger.exception("on_assigned(%s, %d) raised; the client leaves", queue, offset)
            del self._held[queue]
            failure = CallbackError(f"on_assigned({queue}, {offset}) raised {error!r}")
            failure.__cause__ = error
            self._report(WorkFailed(failure))

    def _revoke(self, queue: Queue, epoch: Epoch) -> None:
        if self._undecided.get(queue, (None,))[0] == epoch:
            del self._undecided[queue]
        if self._held.get(queue) != epoch:
            # The application never got the queue, failed to start it, or has stopped it.
            self._report(WorkStopped(queue, epoch, None))
            return
        del self._held[queue]
        began = time.monotonic()
        final: int | None = None
        try:
            final = self._on_revoked(queue)
            if final is not None:
                # A value of a wrong type must not end the session.
                final = index(final)
        except Exception:
            logger.exception("on_revoked(%s) failed; released at its processed position", queue)
            final = None
        self._observer.revoke_took(time.monotonic() - began)
        self._report(WorkStopped(queue, epoch, final))
