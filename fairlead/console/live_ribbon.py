"""The ribbon of a group, live: each row and each mark with the version in which it came."""

from collections.abc import Container
from typing import Any, Final

from fairlead.core.model import MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.history.ribbon import (
    Ribbon,
    RibbonChange,
    RibbonMark,
    RibbonRow,
    RibbonWindow,
    clients_of,
)

__all__ = ["EVERYTHING", "LiveRibbon"]

EVERYTHING: Final = RibbonWindow(0)
"""The window in which a board keeps a ribbon; each stream shows a part of it."""


class LiveRibbon:
    """A ribbon as the streams of its group have it; all calls are of one event loop.

    Args:
        group: the group's name.
    """

    def __init__(self, group: str) -> None:
        self.group = group
        self._rows: dict[MessageQueue, tuple[RibbonRow, int]] = {}
        self._gone: dict[MessageQueue, int] = {}
        self._marks: list[tuple[RibbonMark, int]] = []
        self._kept_since_ms: int | None = None

    @property
    def newest(self) -> int:
        """The offset of the newest decision that has a mark; −1: there is none."""
        return self._marks[-1][0].at.offset if self._marks else -1

    def take(self, found: Ribbon | RibbonChange, version: int) -> bool:
        """Take what was found as that of a version; return whether anything is new."""
        if isinstance(found, Ribbon):
            shown = {each.queue for each in found.rows}
            gone = [queue for queue in self._rows if queue not in shown]
            self._kept_since_ms = found.kept_since_ms
            told = {*map(_decided, found.marks)}
            self._marks = [each for each in self._marks if _decided(each[0]) in told]
        else:
            gone = [queue for queue in found.gone if queue in self._rows]
        known = {_decided(mark) for mark, _ in self._marks}
        fresh = [each for each in found.marks if _decided(each) not in known]
        moved = [each for each in found.rows if self._row(each.queue) != each]
        for row in moved:
            self._rows[row.queue] = row, version
            self._gone.pop(row.queue, None)
        for queue in gone:
            del self._rows[queue]
            self._gone[queue] = version
        self._marks += ((each, version) for each in fresh)
        return bool(fresh or moved or gone)

    def _row(self, queue: MessageQueue) -> RibbonRow | None:
        known = self._rows.get(queue)
        return None if known is None else known[0]

    def whole(
        self,
        window: RibbonWindow,
        now_ms: int,
        queues: Container[MessageQueue],
        after: int | None = None,
    ) -> dict[str, Any]:
        """Return what a window shows.

        Args:
            window: the window.
            now_ms: the time.
            queues: these have a row even if it is empty.
            after: a decision; every mark behind it is shown too. None: no other marks.
        """
        rows = [each for each in self._within(window, -1) if each.spans or each.queue in queues]
        marks = [
            each
            for each, _ in self._marks
            if each.is_in(window) or (after is not None and each.at.offset > after)
        ]
        ribbon = Ribbon(self.group, window, now_ms, self._kept_since_ms, rows, marks)
        return ribbon.to_json()

    def has_all_since(self, after: int) -> bool:
        """Tell whether every decision behind this one has its mark."""
        if after < 0 or after == self.newest:
            return True
        return bool(self._marks) and self._marks[0][0].at.offset <= after < self.newest

    def since(self, version: int, window: RibbonWindow) -> dict[str, Any]:
        """Return what came behind a version, as far as a window shows it."""
        rows = self._within(window, version)
        return RibbonChange(
            rows=rows,
            gone=[queue for queue, gone in self._gone.items() if gone > version],
            marks=[each for each, came in self._marks if came > version],
            clients=clients_of(self._within(window, -1)) if rows else (),
        ).to_json()

    def _within(self, window: RibbonWindow, version: int) -> list[RibbonRow]:
        rows = [row.within(window) for row, changed in self._rows.values() if changed > version]
        return sorted(rows, key=lambda each: queue_order(each.queue))


def _decided(mark: RibbonMark) -> tuple[int, int]:
    """Return the place of a decision, and its time: a new topic has the same places again."""
    return mark.at.offset, mark.append_ms
