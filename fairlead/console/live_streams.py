"""All open live streams: what wakes them, and what ends them.

The thread that reads the topics tells which groups it touched; the server's loop hears of it only
if somebody shows one of them.
"""

import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

from fairlead.console.group_board import GroupBoard
from fairlead.console.groups_board import GroupsBoard, Head
from fairlead.console.live_board import LiveBoard
from fairlead.console.live_events import ALIVE, RETRY
from fairlead.console.live_reader import LiveReader
from fairlead.console.live_readers import LiveReaders
from fairlead.console.live_view import LiveView
from fairlead.history.ribbons import Ribbons
from fairlead.observed.touched import Touched

__all__ = ["LiveStreams"]

_ALIVE_S: Final = 15.0
"""A stream says something this often, so that proxies keep it open."""


class LiveStreams:
    """The boards that are read, and their readers.

    Args:
        view: what is known of groups.
        ribbons: the ribbons of all groups.
        head: makes the document of all groups without the groups.
    """

    def __init__(self, view: LiveView, ribbons: Ribbons, head: Head) -> None:
        self._view, self._ribbons, self._head = view, ribbons, head
        self._readers = LiveReaders()
        self._groups: GroupsBoard | None = None
        self._boards: dict[str, GroupBoard] = {}
        self._watched: frozenset[str] = frozenset()
        # The next ones are of the thread that reads too.
        self._lock = threading.Lock()
        self._touched = Touched()
        self._is_told = False
        view.listen(self._hear)

    def all_groups(self, reader: LiveReader) -> AsyncIterator[bytes]:
        """Return the events of a stream of all groups."""
        return self._events(self._groups_board, reader)

    def one_group(self, name: str, reader: LiveReader) -> AsyncIterator[bytes]:
        """Return the events of a stream of one group."""
        return self._events(lambda: self._group_board(name), reader)

    def _groups_board(self) -> GroupsBoard:
        if self._groups is None:
            self._groups = GroupsBoard(self._view, self._head)
        return self._groups

    def _group_board(self, name: str) -> GroupBoard:
        board = self._boards.get(name)
        if board is None:
            board = self._boards[name] = GroupBoard(self._view, self._ribbons, self._head, name)
            self._watched = frozenset(self._boards)
        return board

    def close(self) -> None:
        """End all streams, from any thread; those that come later end at once."""
        self._readers.close()

    async def _events(
        self, board_of: Callable[[], LiveBoard], reader: LiveReader
    ) -> AsyncIterator[bytes]:
        board = board_of()
        self._enter(board, reader)
        try:
            yield RETRY
            seen, spoke_s = -1, time.monotonic()
            while not reader.has_ended and reader.caller.still_stands:
                data = None
                if board.version and board.version != seen:
                    data, seen = board.event(seen, reader), board.version
                if data is None:
                    patience_s = max(spoke_s + _ALIVE_S - time.monotonic(), 0)
                    if await reader.news(patience_s):
                        continue
                    data = ALIVE
                spoke_s = time.monotonic()
                yield data
                await reader.rest(reader.interval_s)
        finally:
            self._leave(board, reader)

    def _enter(self, board: LiveBoard, reader: LiveReader) -> None:
        self._readers.enter(reader)
        board.enter(reader)

    def _leave(self, board: LiveBoard, reader: LiveReader) -> None:
        self._readers.leave(reader)
        board.leave(reader)
        if self._groups is not None and not self._groups.is_read:
            self._groups = None
        self._boards = {name: each for name, each in self._boards.items() if each.is_read}
        self._watched = frozenset(self._boards)

    def _hear(self, touched: Touched) -> None:
        """Hear, on the thread that reads, what was touched."""
        if not self._readers.are_open:
            return
        shown = touched.only(self._watched)
        if self._groups is not None:
            shown.add(Touched(touched.changed, touched.measured))
        if not shown:
            return
        with self._lock:
            self._touched.add(shown)
            if self._is_told:
                return
            self._is_told = True
        self._readers.call(self._pass_on)

    def _pass_on(self) -> None:
        with self._lock:
            touched, self._touched, self._is_told = self._touched, Touched(), False
        if self._groups is not None:
            self._groups.note(touched)
        for name, board in self._boards.items():
            own = touched.only((name,))
            if own:
                board.note(own)
