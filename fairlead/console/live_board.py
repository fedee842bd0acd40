"""The newest state of something, folded once for all streams that show it.

Decides when it looks again: at once where something changed, within a second where only measures
moved, and now and then because time passes. While nobody reads, it does nothing. ADR 0204 gives the
reasons.
"""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final

import structlog
from starlette.concurrency import run_in_threadpool

from fairlead.console.live_items import LiveItems
from fairlead.console.live_reader import LiveReader
from fairlead.observed.touched import Touched

__all__ = ["LiveBoard"]

_MEASURES_S: Final = 1.0
"""So often measures are sent at most."""

log = structlog.get_logger(__name__)


class LiveBoard(ABC):
    """What all streams of one subject share; all calls but `fold` are of one event loop.

    Attributes:
        version: grows with each change that is worth an event.
        items: the newest parts.
    """

    look_s: float = 2.0
    """How long at most until it looks again though no record has told of anything."""

    def __init__(self) -> None:
        self.version = 0
        self.items = LiveItems()
        self._readers: set[LiveReader] = set()
        self._touched = Touched(everything=True)
        self._stir = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._folded_s = float("-inf")
        self._written: dict[Any, bytes | None] = {}

    @property
    def is_read(self) -> bool:
        """Whether anybody reads it."""
        return bool(self._readers)

    def enter(self, reader: LiveReader) -> None:
        """Let somebody read it; there is something to read as soon as there is a version."""
        self._readers.add(reader)
        if self._pump is None:
            self._pump = asyncio.create_task(self._run())

    def leave(self, reader: LiveReader) -> None:
        """Note that somebody reads no more."""
        self._readers.discard(reader)
        if not self._readers and self._pump is not None:
            self._pump.cancel()
            self._pump = None

    def note(self, touched: Touched) -> None:
        """Note that records have told of something."""
        self._touched.add(touched)
        self._stir.set()

    @abstractmethod
    def look(self, touched: Touched) -> Callable[[], Any]:
        """Return a function that looks, on another thread, at what was touched."""

    @abstractmethod
    def take(self, found: Any, version: int) -> bool:
        """Take what was found as the next version; return False if nothing but clocks moved."""

    @abstractmethod
    def event(self, seen: int, reader: LiveReader) -> bytes | None:
        """Return what a reader lacks that has seen a version, as an event; −1: everything.

        None: nothing that concerns it has changed.
        """

    def written(self, key: Any, write: Callable[[], bytes | None]) -> bytes | None:
        """Return bytes of the present state, written once for all who ask for the same."""
        if key not in self._written:
            self._written[key] = write()
        return self._written[key]

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            wait_s = self._due_s() - loop.time()
            if wait_s > 0:
                self._stir.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stir.wait(), wait_s)
                continue
            touched, self._touched = self._touched, Touched()
            self._folded_s = loop.time()
            try:
                self._publish(await run_in_threadpool(self.look(touched)))
            except Exception:
                # The view may have moved on under the look; the next one may go well.
                log.exception("live_look_failed")
                self._touched.add(touched)

    def _publish(self, found: Any) -> None:
        self._written.clear()
        if self.take(found, self.version + 1):
            self.version += 1
            for each in self._readers:
                each.wake()

    def _due_s(self) -> float:
        """Return when to look again."""
        least_s = min((each.interval_s for each in self._readers), default=0.0)
        if self._touched.everything or self._touched.changed:
            return self._folded_s + least_s
        return self._folded_s + max(least_s, _MEASURES_S if self._touched else self.look_s)
