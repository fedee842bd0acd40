"""Calls the application's functions, one after another, on one thread of its own."""

import logging
import time
from collections.abc import Callable, Iterable
from operator import index
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Final

from fairlead_client.errors import CallbackError
from fairlead_client.model import Epoch, Position, Queue
from fairlead_client.session.events import Event, ProgressMade, WorkFailed, WorkStopped
from fairlead_client.session.observer import Observer

logger = logging.getLogger(__name__)

OnAssigned = Callable[[Queue, int], object]
OnRevoked = Callable[[Queue], int | None]
UNDECIDED_SECONDS: Final = 0.1
"""A queue whose lease ran out is renewed or taken away; so soon it is looked which it was."""


class Callbacks:
    """The application as two functions.

    Args:
        on_assigned: called when a queue may be read, with the offset to start at.
        on_revoked: called when a queue is taken away; returns the next offset to read, or None for
            what was said with `processed`, after the work has stopped.
        observer: is told how long stopping took.
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
        """Say where answers go and whom to ask; then the thread starts."""
        self._report = report
        self._still_mine = still_mine
        self._thread.start()

    @property
    def thread(self) -> Thread:
        """The thread that calls the application."""
        return self._thread

    # What the session's thread calls.
    def start_work(self, queue: Queue, epoch: Epoch, position: Position) -> None:
        """Have on_assigned called."""
        self._tasks.put(lambda: self._assign(queue, epoch, position.offset))

    def stop_work(self, queue: Queue, epoch: Epoch) -> None:
        """Have on_revoked called."""
        self._tasks.put(lambda: self._revoke(queue, epoch))

    def abandon_work(self, queue: Queue, epoch: Epoch) -> None:
        """Believe no progress of it any more; on_revoked is running, or waits to be called."""
        with self._lock:
            known = self._progress.get(queue)
            if known is not None and known.epoch == epoch:
                del self._progress[queue]

    def stop_everything(self, work: Iterable[tuple[Queue, Epoch]]) -> None:
        """Have on_revoked called for each."""
        for queue, epoch in work:
            self.stop_work(queue, epoch)

    def collect_progress(self) -> list[ProgressMade]:
        """Return and forget what was said with `processed`."""
        if not self._progress:
            return []
        with self._lock:
            taken, self._progress = self._progress, {}
        return list(taken.values())

    def closed(self) -> None:
        """End the thread after what it still has to call."""
        self._tasks.put(None)

    # What the application calls.
    def processed(
        self, queue: Queue, next_offset: int, epoch: Epoch | None, end: int | None = None
    ) -> bool:
        """Note progress; refuse it for what is not, or no longer, this client's."""
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

    # What the callbacks' own thread does.
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
            # The lease ran out before the application was told; if it is lost it need not know.
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
            # Never told to the application, told and failed, or stopped already.
            self._report(WorkStopped(queue, epoch, None))
            return
        del self._held[queue]
        began = time.monotonic()
        final: int | None = None
        try:
            final = self._on_revoked(queue)
            if final is not None:
                # Not every application checks its types: a wrong one must not end the session.
                final = index(final)
        except Exception:
            logger.exception("on_revoked(%s) failed; released where it was processed to", queue)
            final = None
        self._observer.revoke_took(time.monotonic() - began)
        self._report(WorkStopped(queue, epoch, final))
