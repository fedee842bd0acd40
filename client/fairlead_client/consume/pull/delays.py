"""A thread that calls something later."""

import logging
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from threading import Condition, Thread
from time import monotonic
from typing import Final

logger = logging.getLogger(__name__)

UNDECIDED_MS: Final = 100
"""A queue whose lease ran out is renewed or taken away; so soon it is looked which it was."""


class Delays(Thread):
    """Calls functions after their time, one after another; what is due when it ends is not called.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._changed = Condition()
        self._waiting: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = count()
        self._over = False

    def call(self, delay_ms: int, function: Callable[[], object]) -> None:
        """Call a function after so many milliseconds; it should be quick."""
        with self._changed:
            at = monotonic() + delay_ms / 1_000
            heappush(self._waiting, (at, next(self._numbers), function))
            self._changed.notify()

    def stop(self) -> None:
        """End soon."""
        with self._changed:
            self._over = True
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
            while not self._over:
                left = self._waiting[0][0] - monotonic() if self._waiting else None
                if left is not None and left <= 0:
                    return heappop(self._waiting)[2]
                self._changed.wait(left)
        return None
