"""A thread that calls functions at their times."""

import heapq
import logging
from collections.abc import Callable
from itertools import count
from threading import Condition, Thread

from fairlead_client.session.clock import now_ms

logger = logging.getLogger(__name__)


class Timer(Thread):
    """Calls each function when its time has come, one after another; the functions must not wait.

    Args:
        name: the name of the thread.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._entries: list[tuple[int, int, Callable[[], object]]] = []
        self._numbers = count()
        self._changed = Condition()
        self._stopped = False

    def at(self, at_ms: int, function: Callable[[], object]) -> None:
        """Call a function at a time of `now_ms`; at once if that time is over."""
        with self._changed:
            entry = (at_ms, next(self._numbers), function)
            heapq.heappush(self._entries, entry)
            if self._entries[0] is entry:
                self._changed.notify()

    def after(self, delay_ms: int, function: Callable[[], object]) -> None:
        """Call a function after this many milliseconds."""
        self.at(now_ms() + delay_ms, function)

    def stop(self) -> None:
        """End soon; the timer never calls what is not yet due."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def run(self) -> None:
        """Serve until stopped."""
        while (function := self._next()) is not None:
            try:
                function()
            except Exception:
                logger.exception("%s raised", function)

    def _next(self) -> Callable[[], object] | None:
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
