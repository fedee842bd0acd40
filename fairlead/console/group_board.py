"""One group, live: its standing part by part, and its ribbon row by row."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

from fairlead.console.groups_board import Head
from fairlead.console.live_board import LiveBoard
from fairlead.console.live_events import GONE, event_bytes
from fairlead.console.live_items import Difference, ItemKey
from fairlead.console.live_reader import LiveReader
from fairlead.console.live_ribbon import EVERYTHING, LiveRibbon
from fairlead.console.live_view import LiveView
from fairlead.core.model import MessageQueue
from fairlead.history.ribbon import Ribbon, RibbonChange, RibbonWindow
from fairlead.history.ribbons import Ribbons
from fairlead.observed.touched import Touched

__all__ = ["GroupBoard"]

_HEAD: Final = ("head", "")
_STATES: Final = ("ready", "reason")
_READINESS: Final = (*_STATES, "records_behind")
_LISTS: Final = {"topic": "topic_list", "member": "member_list", "queue": "queue_list"}


_HOUR_MS: Final = 3_600_000
_AGES_S: Final = 10.0
"""So often a page hears how long messages wait in a group that does nothing."""
_WHOLE_S: Final = 60.0
"""So often the whole ribbon is compared, since a change does not say what the view forgot."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What a look found.

    Attributes:
        readiness: whether everything is read, as the document of all groups says.
        parts: the parts of the group in order; empty: there is no such group; None: not looked at.
        difference: what is new in them.
        ribbon: the version of the ribbon, and what is new in it.
    """

    readiness: dict[str, Any]
    parts: dict[ItemKey, Any] | None
    difference: Difference
    ribbon: tuple[int, Ribbon | RibbonChange] | None


class GroupBoard(LiveBoard):
    """A group as it stands, and its ribbon.

    Args:
        view: the view.
        ribbons: the ribbons of all groups.
        head: makes the document of all groups without the groups.
        name: the group.
    """

    def __init__(self, view: LiveView, ribbons: Ribbons, head: Head, name: str) -> None:
        super().__init__()
        self._view, self._ribbons, self._name = view, ribbons, name
        self._head_of_all = head
        self._ready: dict[str, Any] = {}
        self._order: list[ItemKey] = []
        self._ribbon = LiveRibbon(name)
        self._ribbon_version = 0
        self._whole_s = self._aged_s = float("-inf")

    def look(self, touched: Touched) -> Callable[[], _Found]:
        """Return a function that looks at the group."""
        if not self._view.is_whole:
            # Half of the topics would show queues without owners. What was known stays.
            self._touched.add(touched)
            return lambda: _Found(self._readiness(), None, Difference(), None)
        return self._looked

    def _looked(self) -> _Found:
        described = self._view.group(self._name)
        parts = {} if described is None else dict(_parts(described))
        gone = dict.fromkeys(key for key in self._order if key not in parts)
        now_s, since = time.monotonic(), self._ribbon_version
        with_ages = now_s - self._aged_s >= _AGES_S
        if with_ages:
            self._aged_s = now_s
        difference = self.items.compare({**parts, **gone}, with_ages=with_ages)
        if now_s - self._whole_s >= _WHOLE_S:
            since, self._whole_s = 0, now_s
        # After the group: what the group tells of a decision may be newer than its mark, never the
        # other way round, so that no mark is skipped.
        return _Found(
            self._readiness(),
            parts,
            difference,
            self._ribbons.change(self._name, since, EVERYTHING, _now_ms()),
        )

    def _readiness(self) -> dict[str, Any]:
        head = self._head_of_all()
        return {name: head[name] for name in _READINESS}

    def take(self, found: _Found, version: int) -> bool:
        """Take what was found."""
        is_other = any(found.readiness[each] != self._ready.get(each) for each in _STATES)
        self._ready = found.readiness
        if found.parts is None:
            # Before the first look there is nothing to tell of.
            return is_other and version > 1
        self._order = [*found.parts]
        if not found.parts:
            was_there = _HEAD in self.items or version == 1
            self.items.clear(version)
            self._ribbon, self._ribbon_version = LiveRibbon(self._name), 0
            return was_there
        self.items.take(found.difference, version)
        is_new = found.difference.is_news or is_other
        if found.ribbon is not None:
            self._ribbon_version, ribbon = found.ribbon
            is_new = self._ribbon.take(ribbon, version) or is_new
        return is_new

    def event(self, seen: int, reader: LiveReader) -> bytes | None:
        """Return what a reader lacks."""
        if _HEAD not in self.items:
            return GONE
        from_ms = reader.from_ms
        if seen < 0 or not self.items.tells_since(seen):
            after = reader.after if seen < 0 else None
            key: Any = ("snapshot", from_ms, after)
            return self.written(key, lambda: self._snapshot(from_ms, after))
        return self.written((seen, from_ms), lambda: self._change(seen, from_ms))

    def _snapshot(self, from_ms: int | None, after: int | None) -> bytes:
        now_ms = _now_ms()
        parts = {plural: [*self._of_kind(kind)] for kind, plural in _LISTS.items()}
        queues = {
            MessageQueue(*self.items.document(key)["queue"])
            for key in self._order
            if key[0] == "queue"
        }
        document = {
            "now_ms": now_ms,
            **self._ready,
            "group": {**self._head, **parts},
            "ribbon": self._ribbon.whole(_window(from_ms, now_ms), now_ms, queues, after),
            "resumed": None,
        }
        if after is not None:
            complete = self._ribbon.has_all_since(after)
            document["resumed"] = {"after": after, "complete": complete}
        return event_bytes("snapshot", self._ribbon.newest, document)

    def _change(self, seen: int, from_ms: int | None) -> bytes:
        now_ms = _now_ms()
        document: dict[str, Any] = {"now_ms": now_ms, **self._ready, "head": self._head}
        for kind in ("queue", "member"):
            document[f"{kind}s"] = [line for _, line in self.items.since(seen, kind)]
            gone = self.items.gone_since(seen, kind)
            document[f"{kind}s_gone"] = [orjson.Fragment(name) for name in gone]
        if any(self.items.since(seen, "topic")) or self.items.gone_since(seen, "topic"):
            document["topics"] = [*self._of_kind("topic")]
        document |= self._ribbon.since(seen, _window(from_ms, now_ms))
        return event_bytes("change", self._ribbon.newest, document)

    @property
    def _head(self) -> Any:
        return self.items.document(_HEAD)

    def _of_kind(self, kind: str) -> Iterator[orjson.Fragment]:
        return (self.items.written(key) for key in self._order if key[0] == kind)


def _parts(described: dict[str, Any]) -> Iterator[tuple[ItemKey, Any]]:
    """Yield the parts of a described group; the names of queues and members are JSON."""
    lists = _LISTS.values()
    yield _HEAD, {name: value for name, value in described.items() if name not in lists}
    for each in described["topic_list"]:
        yield ("topic", each["topic"]), each
    for each in described["member_list"]:
        name = orjson.dumps([each["client_id"], each["incarnation"]]).decode()
        yield ("member", name), each
    for each in described["queue_list"]:
        yield ("queue", orjson.dumps(each["queue"]).decode()), each


def _window(from_ms: int | None, now_ms: int) -> RibbonWindow:
    # A browser whose clock is ahead shall not miss what ends now.
    latest_ms = now_ms - _HOUR_MS
    return RibbonWindow(latest_ms if from_ms is None else min(from_ms, latest_ms))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
