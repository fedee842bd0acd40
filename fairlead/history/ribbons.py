"""The ribbons of the groups that were asked about last, kept up to date with one view."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, TypeVar

from fairlead.history.ribbon import Ribbon, RibbonChange, RibbonWindow
from fairlead.history.ribbon_facts import RibbonFacts, facts_of
from fairlead.history.ribbon_fold import RibbonFold
from fairlead.observed.observed_groups import ObservedGroups

__all__ = ["Ribbons"]

_KEPT_MAX: Final = 64
"""Keep the ribbons of this many groups; others are made again, which takes up to some seconds."""

_Answer = TypeVar("_Answer")
_Question = Callable[[ObservedGroups], RibbonFacts | None]


class Ribbons:
    """Answers from any thread; one thread at a time works on the ribbon of one group.

    Args:
        query: puts a question to the view while nobody changes it; its second argument is the
            answer while there is no view.
    """

    def __init__(self, query: Callable[[_Question, None], RibbonFacts | None]) -> None:
        self._query = query
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[threading.Lock, RibbonFold]] = OrderedDict()
        self._newest = 0

    def ribbon(self, group: str, window: RibbonWindow, now_ms: int) -> Ribbon | None:
        """Return what a window shows of a group's ribbon; None: there is no such group."""
        return self.ask(group, lambda fold: fold.ribbon(window, now_ms), now_ms)

    def versioned(self, group: str, window: RibbonWindow, now_ms: int) -> tuple[int, Ribbon] | None:
        """Return what `ribbon` returns with its version."""
        return self.ask(group, lambda fold: (fold.version, fold.ribbon(window, now_ms)), now_ms)

    def ask(
        self, group: str, question: Callable[[RibbonFold], _Answer], now_ms: int
    ) -> _Answer | None:
        """Return the answer of a group's ribbon to a question; None: there is no such group."""
        lock, fold = self._fold(group)
        with lock:
            return question(fold) if self._update(fold, now_ms) else None

    def change(
        self, group: str, since_version: int, window: RibbonWindow, now_ms: int
    ) -> tuple[int, RibbonChange | Ribbon] | None:
        """Return what came behind a version, with the new version; None: there is no such group.

        The whole ribbon comes back where nobody knows that version any more.
        """

        def changed(fold: RibbonFold) -> tuple[int, RibbonChange | Ribbon]:
            if not fold.first_version < since_version <= fold.version:
                return fold.version, fold.ribbon(window, now_ms)
            return fold.version, fold.change(since_version, window)

        return self.ask(group, changed, now_ms)

    def _fold(self, group: str) -> tuple[threading.Lock, RibbonFold]:
        with self._lock:
            if group not in self._kept:
                # No version of a dropped fold may pass for one of the fold that comes after it.
                self._kept[group] = threading.Lock(), RibbonFold(group, self._newest)
                if len(self._kept) > _KEPT_MAX:
                    self._drop(next(iter(self._kept)))
            self._kept.move_to_end(group)
            return self._kept[group]

    def _drop(self, group: str) -> None:
        dropped = self._kept.pop(group, None)
        if dropped is not None:
            self._newest = max(self._newest, dropped[1].version)

    def _update(self, fold: RibbonFold, now_ms: int) -> bool:
        """Bring a ribbon up to date; return whether its group is there."""
        facts = self._query(lambda view: facts_of(view, fold.group, fold.place, now_ms), None)
        if facts is None:
            with self._lock:
                self._drop(fold.group)
            return False
        fold.update(facts)
        return True
