"""One open stream: when it may say something, and when it has to end."""

import asyncio
import contextlib
from typing import Final

from fairlead.access.guard import Admitted

__all__ = ["INTERVAL_MS", "LiveReader"]

INTERVAL_MS: Final = (250, 60_000)
"""The shortest and the longest time between two events of a stream."""


class LiveReader:
    """Who reads a board.

    Args:
        caller: whose stream it is.
        interval_ms: the shortest time between two of its events.
        from_ms: since when it shows the past of a group; None: the last hour.
        after: the newest decision that an earlier connection has sent; None: there was none.

    Attributes:
        interval_s: the same in seconds.
    """

    def __init__(
        self,
        caller: Admitted,
        interval_ms: int,
        from_ms: int | None = None,
        after: int | None = None,
    ) -> None:
        self.caller = caller
        self.from_ms, self.after = from_ms, after
        self.interval_s = interval_ms / 1_000
        self._news = asyncio.Event()
        self._end = asyncio.Event()

    @property
    def has_ended(self) -> bool:
        """Whether the stream has to end."""
        return self._end.is_set()

    def wake(self) -> None:
        """Tell it that there is news."""
        self._news.set()

    def end(self) -> None:
        """End it."""
        self._end.set()
        self._news.set()

    async def news(self, patience_s: float) -> bool:
        """Wait for news or the end; tell whether one of them came in time."""
        try:
            await asyncio.wait_for(self._news.wait(), patience_s)
        except TimeoutError:
            return False
        self._news.clear()
        return True

    async def rest(self, seconds: float) -> None:
        """Let time pass, until it has to end."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._end.wait(), seconds)
