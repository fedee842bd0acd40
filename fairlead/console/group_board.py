"""One group, live: its standing part by part."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

from fairlead.console.live_board import LiveBoard
from fairlead.console.live_events import GONE, event_bytes
from fairlead.console.live_items import Difference, ItemKey
from fairlead.console.live_reader import LiveReader
from fairlead.console.live_view import LiveView
from fairlead.observed.touched import Touched

__all__ = ["GroupBoard"]

_HEAD: Final = ("head", "")
_LISTS: Final = {"topic": "topic_list", "member": "member_list", "queue": "queue_list"}


@dataclass(frozen=True, slots=True)
class _Found:
    """What a look found: the parts of the group in order; none: there is no such group."""

    parts: dict[ItemKey, Any]
    difference: Difference


class GroupBoard(LiveBoard):
    """A group as it stands.

    Args:
        view: the view.
        name: the group.
    """

    def __init__(self, view: LiveView, name: str) -> None:
        super().__init__()
        self._view, self._name = view, name
        self._order: list[ItemKey] = []

    def look(self, touched: Touched) -> Callable[[], _Found | None]:
        """Return a function that looks at the group."""
        if self.version and not self._view.is_whole:
            # Half of the topics would show queues without owners. What was known stays.
            self._touched.add(touched)
            return lambda: None
        return self._looked

    def _looked(self) -> _Found:
        described = self._view.group(self._name)
        parts = {} if described is None else dict(_parts(described))
        gone = dict.fromkeys(key for key in self._order if key not in parts)
        return _Found(parts, self.items.compare({**parts, **gone}))

    def take(self, found: _Found | None, version: int) -> bool:
        """Take what was found."""
        if found is None:
            return False
        self._order = [*found.parts]
        if found.parts:
            self.items.take(found.difference, version)
            return found.difference.is_news
        was_there = _HEAD in self.items or version == 1
        self.items.clear(version)
        return was_there

    def event(self, seen: int, reader: LiveReader) -> bytes | None:
        """Return what a reader lacks."""
        del reader
        if _HEAD not in self.items:
            return GONE
        whole = seen < 0 or not self.items.tells_since(seen)
        if whole:
            return self.written("snapshot", self._snapshot)
        return self.written(seen, lambda: self._change(seen))

    def _snapshot(self) -> bytes:
        parts = {plural: [*self._of_kind(kind)] for kind, plural in _LISTS.items()}
        group = {**self._head, **parts}
        return event_bytes("snapshot", self._number, {"now_ms": _now_ms(), "group": group})

    def _change(self, seen: int) -> bytes:
        document: dict[str, Any] = {"now_ms": _now_ms(), "head": self._head}
        for kind in ("queue", "member"):
            document[f"{kind}s"] = [line for _, line in self.items.since(seen, kind)]
            gone = self.items.gone_since(seen, kind)
            document[f"{kind}s_gone"] = [orjson.Fragment(name) for name in gone]
        if any(self.items.since(seen, "topic")) or self.items.gone_since(seen, "topic"):
            document["topics"] = [*self._of_kind("topic")]
        return event_bytes("change", self._number, document)

    @property
    def _head(self) -> Any:
        return self.items.document(_HEAD)

    @property
    def _number(self) -> int:
        """The id of an event: the offset of the newest decision; −1: there is none."""
        decision = self._head["decision"]
        return -1 if decision is None else decision["at"][2]

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


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
