"""The records that the engine rejected last, kept while the topic of rejects is followed."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Final

from fairlead.history.rejected import Rejected, rejected_of
from fairlead.wire.raw import RawRecord

__all__ = ["NewestRejects"]

_KEPT_MAX: Final = 1_000
_GROUPS_MAX: Final = 10_000
"""Whoever sends bad records may name any group: of so many the rejects are counted apart."""

_Group = str | None


class NewestRejects:
    """The newest rejects of all groups, and how many there were of each.

    One thread adds, and any thread asks.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Forget all: the topic is read again."""
        with self._lock:
            self._kept: deque[Rejected] = deque(maxlen=_KEPT_MAX)
            self._seen: Counter[_Group] = Counter()

    def add(self, rows: Iterable[RawRecord]) -> None:
        """Add records of the topic of rejects, in order; what is no reject is passed over."""
        found = [each for row in rows if (each := rejected_of(row)) is not None]
        if not found:
            return
        with self._lock:
            for each in found:
                group = each.group
                is_named = group in self._seen or len(self._seen) < _GROUPS_MAX
                self._seen[group if is_named else None] += 1
                self._kept.append(each)

    def newest(self, number: int, shows: Callable[[_Group], bool]) -> tuple[int, list[Rejected]]:
        """Return how many rejects were seen of the groups that are shown, and the newest of them.

        Args:
            number: how many of the newest.
            shows: tells whether a group is shown; None: a reject that names no group.
        """
        with self._lock:
            seen, kept = dict(self._seen), list(self._kept)
        total = sum(count for group, count in seen.items() if shows(group))
        newest = [each for each in reversed(kept) if shows(each.group)]
        return total, newest[:number]
