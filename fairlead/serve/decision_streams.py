"""The streams of decisions: each looks for new ones when a record has told of its group."""

import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

import orjson
from starlette.concurrency import run_in_threadpool

from fairlead.console.live_events import ALIVE
from fairlead.console.live_reader import LiveReader
from fairlead.console.live_readers import LiveReaders
from fairlead.http.event_streams import EventStreams
from fairlead.observed.touched import Touched
from fairlead.serve.shared_view import SharedView

__all__ = ["DecisionStreams"]

_ALIVE_S: Final = 15.0
"""A stream says something this often, so that proxies keep it open."""


class DecisionStreams:
    """All open streams of decisions.

    Args:
        held: the view.
        streams: tells when all of them have to end.
    """

    def __init__(self, held: SharedView, streams: EventStreams) -> None:
        self._held = held
        self._readers = LiveReaders()
        self._of: dict[str, set[LiveReader]] = {}
        self._watched: frozenset[str] = frozenset()
        held.listen(self._hear)
        streams.at_close(self._readers.close)

    async def events(self, name: str, after: int, reader: LiveReader) -> AsyncIterator[bytes]:
        """Yield the decisions of a group behind an offset; below 0: those that come from now on."""
        if after < 0:
            after = await run_in_threadpool(self._held.newest_offset, name)
        self._enter(name, reader)
        try:
            yield b": connected\n\n"
            spoke_s = time.monotonic()
            while not reader.has_ended and reader.caller.still_stands:
                decisions = await run_in_threadpool(self._held.decisions, name, 0, after)
                for each in decisions or ():
                    after, spoke_s = each["at"][2], time.monotonic()
                    yield b"id: %d\nevent: decision\ndata: %s\n\n" % (after, orjson.dumps(each))
                if not await reader.news(max(spoke_s + _ALIVE_S - time.monotonic(), 0)):
                    spoke_s = time.monotonic()
                    yield ALIVE
        finally:
            self._leave(name, reader)

    def _enter(self, name: str, reader: LiveReader) -> None:
        self._readers.enter(reader)
        self._of.setdefault(name, set()).add(reader)
        self._watched = frozenset(self._of)

    def _leave(self, name: str, reader: LiveReader) -> None:
        self._readers.leave(reader)
        self._of[name].discard(reader)
        self._of = {group: readers for group, readers in self._of.items() if readers}
        self._watched = frozenset(self._of)

    def _hear(self, touched: Touched) -> None:
        """Hear, on the thread that reads, what was touched."""
        watched = self._watched
        names = watched if touched.everything else watched & touched.changed
        if names:
            self._readers.call(partial(self._wake, names))

    def _wake(self, names: frozenset[str]) -> None:
        for name in names:
            for each in self._of.get(name, ()):
                each.wake()
