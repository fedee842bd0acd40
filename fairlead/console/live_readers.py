"""The open streams of a kind: each ends that may no longer read, and all when the server stops."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from fairlead.console.live_reader import LiveReader

__all__ = ["LiveReaders"]

_RIGHTS_S: Final = 1.0
"""So often somebody looks whether each reader still may read."""


class LiveReaders:
    """Who reads; all calls but `close`, `call` and `are_open` are of one event loop."""

    def __init__(self) -> None:
        self._open: set[LiveReader] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._rights: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def are_open(self) -> bool:
        """Whether anybody reads."""
        return bool(self._open)

    def enter(self, reader: LiveReader) -> None:
        """Let somebody read; once all are ended, whoever comes is ended at once."""
        self._loop = asyncio.get_running_loop()
        self._open.add(reader)
        if self._closed:
            reader.end()
        if self._rights is None:
            self._rights = asyncio.create_task(self._watch_rights())

    def leave(self, reader: LiveReader) -> None:
        """Note that somebody reads no more."""
        self._open.discard(reader)
        if not self._open and self._rights is not None:
            self._rights.cancel()
            self._rights = None

    def call(self, told: Callable[[], object]) -> None:
        """Call something on the loop of the readers, from any thread."""
        if self._loop is not None:
            # A server that has stopped has closed its loop.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(told)

    def close(self) -> None:
        """End all streams, from any thread; those that come later end at once."""
        self._closed = True
        self.call(self._end_all)

    def _end_all(self) -> None:
        for each in self._open:
            each.end()

    async def _watch_rights(self) -> None:
        while True:
            await asyncio.sleep(_RIGHTS_S)
            for each in self._open:
                if not each.caller.still_stands:
                    each.end()
