"""The list of all groups, live: it makes the lines of those groups again that were touched.

Decides how much work a list of thousands may cost: it looks at once at every group
that has changed, and at so many a second of those that only work or say nothing.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fairlead.console.clock_keys import change_between
from fairlead.console.live_board import LiveBoard
from fairlead.console.live_events import event_bytes
from fairlead.console.live_items import Difference
from fairlead.console.live_reader import LiveReader
from fairlead.console.live_view import LiveView
from fairlead.observed.touched import Touched

__all__ = ["GroupsBoard"]

_LINE: Final = "group"
_AT_ONCE: Final = 250
"""So many groups are looked at for which nothing but their measures can have changed."""
_TURN_S: Final = 0.9
"""They have a turn about once a second."""
_CHUNK: Final = 100
"""The view is held for so many lines at a time, since others wait for it."""
_SWEEP_S: Final = 10.0
"""Each group is looked at so often, since time alone changes some of it."""

Head = Callable[[], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Found:
    head: dict[str, Any]
    late: frozenset[int]
    difference: Difference
    names: Sequence[str] = ()


class GroupsBoard(LiveBoard):
    """The lines of all groups.

    Args:
        view: the view.
        head: makes the document of all groups without the groups.
    """

    look_s = 1.0

    def __init__(self, view: LiveView, head: Head) -> None:
        super().__init__()
        self._view, self._make_head = view, head
        self._head: dict[str, Any] = {}
        self._head_version = 0
        self._late: frozenset[int] = frozenset()
        self._waiting: dict[str, None] = {}
        self._waited_s = float("-inf")
        self._looked_s: dict[str, float] = {}

    def note(self, touched: Touched) -> None:
        """Note that records have told of something; lines do not say when members were heard."""
        told = Touched(touched.changed, touched.measured, everything=touched.everything)
        if told:
            super().note(told)

    def look(self, touched: Touched) -> Callable[[], _Found]:
        """Return a function that looks at what was touched, and at some that were not."""
        if not self.version:
            return lambda: self._looked(self._view.names())
        if not self._view.is_whole:
            # Half of the topics would show queues without owners. What was known stays.
            self._touched.add(touched)
            return lambda: _Found(self._make_head(), self._late, Difference())
        names = touched.changed.union(self._due(touched))
        return lambda: self._looked(sorted(names))

    def _due(self, touched: Touched) -> list[str]:
        """Return the groups whose turn it is, of those that did nothing but work."""
        now_s = time.monotonic()
        self._waiting.update(dict.fromkeys(sorted(touched.measured)))
        oldest_s = now_s if touched.everything else now_s - _SWEEP_S
        self._waiting.update(
            (name, None) for name, looked_s in self._looked_s.items() if looked_s <= oldest_s
        )
        if now_s - self._waited_s < _TURN_S:
            return []
        self._waited_s, due = now_s, [*self._waiting][:_AT_ONCE]
        for name in due:
            del self._waiting[name]
        return due

    def _looked(self, names: Sequence[str]) -> _Found:
        late, difference = self._view.late_shards(), Difference()
        for index in range(0, len(names), _CHUNK):
            lines = self._view.lines(names[index : index + _CHUNK])
            fresh = {(_LINE, name): line for name, line in lines.items()}
            difference.add(self.items.compare(fresh))
        return _Found(self._make_head(), late, difference, names)

    def take(self, found: _Found, version: int) -> bool:
        """Take what was found."""
        change = change_between(self._head, found.head) if self._head else "state"
        if change not in ("none", "clock"):
            self._head_version = version
        self._head = found.head
        self.items.take(found.difference, version)
        for name in found.names:
            self._looked_s.pop(name, None)
            if (_LINE, name) in self.items:
                self._looked_s[name] = time.monotonic()
        if found.late != self._late:
            self._late = found.late
            self._waiting.update(dict.fromkeys(self._looked_s))
        return found.difference.is_news or self._head_version == version

    def event(self, seen: int, reader: LiveReader) -> bytes | None:
        """Return what a reader lacks of the groups that it may observe."""
        principal = reader.caller.principal
        everything = principal.may("observe", "*")
        who = None if everything else tuple(principal.rights.get("observe", ()))

        def sees(name: str) -> bool:
            return everything or principal.may("observe", name)

        whole = seen < 0 or not self.items.tells_since(seen)
        return self.written(
            (who, -1 if whole else seen), lambda: self._write(seen, sees, whole=whole)
        )

    def _write(self, seen: int, sees: Callable[[str], bool], *, whole: bool) -> bytes | None:
        number = self._head["as_of_ms"] or 0
        if whole:
            lines = self.items.since(-1, _LINE)
            groups = [line for name, line in sorted(lines, key=lambda each: each[0]) if sees(name)]
            return event_bytes("snapshot", number, {**self._head, "groups": groups})
        changed = [line for name, line in self.items.since(seen, _LINE) if sees(name)]
        gone = sorted(filter(sees, self.items.gone_since(seen, _LINE)))
        if not changed and not gone and self._head_version <= seen:
            return None
        head = {name: value for name, value in self._head.items() if name not in _OF_SNAPSHOT}
        return event_bytes("change", number, {**head, "changed": changed, "gone": gone})


_OF_SNAPSHOT: Final = ("bootstrap", "topic_prefix")
