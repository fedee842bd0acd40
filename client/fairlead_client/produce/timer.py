"""Does things at their times, on one thread: ends attempts that take too long, begins others."""

import heapq
import logging
from collections.abc import Callable
from itertools import count
from threading import Condition, Thread

from fairlead_client.session.clock import now_ms

logger = logging.getLogger(__name__)


class Agenda(Thread):
    """A thread that calls each entry when its time has come; entries must not wait."""

    def __init__(self) -> None:
        super().__init__(name="fairlead-producer-agenda", daemon=True)
        self._entries: list[tuple[int, int, Callable[[], None]]] = []
        self._numbers = count()
        self._changed = Condition()
        self._stopped = False

    def at(self, at_ms: int, call: Callable[[], None]) -> None:
        """Call something at a time of `now_ms`, at once when it is over."""
        with self._changed:
            entry = (at_ms, next(self._numbers), call)
            heapq.heappush(self._entries, entry)
            if self._entries[0] is entry:
                self._changed.notify()

    def stop(self) -> None:
        """End soon; what is not yet due is never called."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def run(self) -> None:
        """Serve until stopped."""
        while (call := self._next()) is not None:
            try:
                call()
            except Exception:
                logger.exception("an entry of the agenda failed")

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            while not self._stopped:
                if not self._entries:
                    self._changed.wait()
                    continue
                wait_ms = self._entries[0][0] - now_ms()
                if wait_ms <= 0:
                    return heapq.heappop(self._entries)[2]
                self._changed.wait(wait_ms / 1_000)
        return None
