"""The parts of a live document, each with the version in which it changed last.

Decides what a reader lacks that has seen some version. So a reader is one number: however slow it
is, nothing is kept for it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from fairlead.console.clock_keys import change_between

__all__ = ["Difference", "ItemKey", "LiveItems"]

_GONE_MAX: Final = 4_096
"""So many parts that are gone are remembered; who lacks older ones begins again."""

ItemKey = tuple[str, str]
"""The kind of a part, and its name."""


@dataclass(slots=True)
class Difference:
    """What is new in some parts.

    Attributes:
        moved: parts whose state changed, or that are new.
        measured: parts that differ in measures alone.
        aged: parts that differ in clocks alone.
        gone: parts that are there no more.
    """

    moved: dict[ItemKey, Any] = field(default_factory=dict)
    measured: dict[ItemKey, Any] = field(default_factory=dict)
    aged: dict[ItemKey, Any] = field(default_factory=dict)
    gone: list[ItemKey] = field(default_factory=list)

    def add(self, other: "Difference") -> None:
        """Add what is new in other parts."""
        self.moved |= other.moved
        self.measured |= other.measured
        self.aged |= other.aged
        self.gone += other.gone

    @property
    def is_news(self) -> bool:
        """Whether anything but clocks has moved."""
        return bool(self.moved or self.measured or self.gone)


@dataclass(slots=True)
class _Item:
    document: Any
    version: int
    written: bytes | None = None


class LiveItems:
    """The newest parts. One thread may compare while no other takes."""

    def __init__(self) -> None:
        self._items: dict[ItemKey, _Item] = {}
        self._gone: dict[ItemKey, int] = {}
        self._forgotten = -1

    def __contains__(self, key: ItemKey) -> bool:
        return key in self._items

    def names(self, kind: str) -> Iterator[str]:
        """Yield the names of the parts of a kind."""
        return (name for each, name in self._items if each == kind)

    def compare(self, fresh: Mapping[ItemKey, Any], *, with_ages: bool = True) -> Difference:
        """Return what is new in these parts; a part that is None is gone.

        ``with_ages``: what only grew older has changed.
        """
        difference = Difference()
        places = {
            "state": difference.moved,
            "measure": difference.measured,
            "age": difference.measured if with_ages else difference.aged,
            "clock": difference.aged,
        }
        for key, document in fresh.items():
            known = self._items.get(key)
            if document is None:
                if known is not None:
                    difference.gone.append(key)
            elif known is None:
                difference.moved[key] = document
            else:
                change = change_between(known.document, document)
                if change != "none":
                    places[change][key] = document
        return difference

    def take(self, difference: Difference, version: int) -> None:
        """Take what is new as the state of a version."""
        for key, document in (*difference.moved.items(), *difference.measured.items()):
            self._items[key] = _Item(document, version)
            self._gone.pop(key, None)
        for key, document in difference.aged.items():
            self._items[key] = _Item(document, self._items[key].version)
        for key in difference.gone:
            del self._items[key]
            self._gone[key] = version
        while len(self._gone) > _GONE_MAX:
            oldest = next(iter(self._gone))
            self._forgotten = max(self._forgotten, self._gone.pop(oldest))

    def clear(self, version: int) -> None:
        """Forget all parts in a version; whoever saw that one or an older one begins again."""
        self._items.clear()
        self._gone.clear()
        self._forgotten = version + 1

    def tells_since(self, version: int) -> bool:
        """Tell whether everything that is gone since a version is still known."""
        return version >= self._forgotten

    def since(self, version: int, kind: str) -> Iterator[tuple[str, orjson.Fragment]]:
        """Yield the parts of a kind that changed behind a version; −1: all of them."""
        for key, item in self._items.items():
            if key[0] == kind and item.version > version:
                yield key[1], self.written(key)

    def written(self, key: ItemKey) -> orjson.Fragment:
        """Return a part as JSON, written once however many ask."""
        item = self._items[key]
        if item.written is None:
            item.written = orjson.dumps(item.document)
        return orjson.Fragment(item.written)

    def document(self, key: ItemKey) -> Any:
        """Return the newest document of a part."""
        return self._items[key].document

    def gone_since(self, version: int, kind: str) -> list[str]:
        """Return the names of the parts of a kind that went behind a version."""
        return [
            name for (each, name), gone in self._gone.items() if each == kind and gone > version
        ]
