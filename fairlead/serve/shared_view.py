"""The view that ``fairlead serve`` keeps, and its answers: one lock, held briefly.

Decides how old an answer may be: lists and metrics are made at most once in `FRESH_S`, however
often they are asked for.
"""

import gc
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeVar

from fairlead.core.allocation import Strategy
from fairlead.history.newest_rejects import NewestRejects
from fairlead.observed.counters import GroupCounters
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.observed.snapshot import Snapshot
from fairlead.observed.summary import GroupSummary
from fairlead.observed.touched import Touched
from fairlead.settings import ServeSettings
from fairlead.wire.raw import Partitions, RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["FRESH_S", "GARBAGE_THRESHOLDS", "SharedView"]

FRESH_S: Final = 0.5
"""An answer about all groups is given again for this long."""

GARBAGE_THRESHOLDS: Final = (50_000, 10, 100)
"""Python frees values that a view replaces at once; only cycles wait for the collector."""

_Answer = TypeVar("_Answer")


class SharedView:
    """The view, shared by the thread that follows the topics and the threads that answer."""

    def __init__(
        self, settings: ServeSettings, tick_ms: int, strategies: Mapping[str, Strategy]
    ) -> None:
        """Begin with nothing known.

        Args:
            settings: how long it keeps decisions, and which groups have their own name.
            tick_ms: the period of the engine's ticks.
            strategies: the engine's strategies.
        """
        self._settings, self._tick_ms, self._strategies = settings, tick_ms, strategies
        self._lock = threading.Lock()
        self._view: ObservedGroups | None = None
        self._counted: GroupCounters | None = None
        self._snapshot: Snapshot | None = None
        self._snapshot_at = 0.0
        self._groups_at = 0.0
        self._groups: list[dict[str, Any]] = []
        self._as_of_ms = 0
        self._listeners: list[Callable[[Touched], None]] = []
        self._rejects_topic = ""
        self.rejects = NewestRejects()
        """What the engine has rejected, as far as its topic was read."""

    def listen(self, told: Callable[[Touched], None]) -> None:
        """Call this, on the thread that reads, whenever something was read of groups."""
        self._listeners.append(told)

    def begin(self, names: TopicNames, partitions: Partitions) -> None:
        """Forget everything but the counters: the topics are read again."""
        self._rejects_topic = names.name("rejects")
        self.rejects.clear()
        with self._lock:
            if self._view is not None and self._view.counters.following:
                self._counted = self._view.counters
            gc.unfreeze()
            # Reading makes millions of values that stay: each search among them would be in vain.
            gc.set_threshold(*GARBAGE_THRESHOLDS)
            self._view = ObservedGroups(
                names,
                partitions,
                self._settings.history_ms,
                tick_ms=self._tick_ms,
                strategies=self._strategies,
            )

    def apply(self, rows: Sequence[RawRecord]) -> None:
        """Apply the rows that were read."""
        with self._lock:
            assert self._view is not None, "the follower begins before it takes"
            self._view.apply(rows)
            touched = self._view.take_touched()
        self.rejects.add(row for row in rows if row.topic == self._rejects_topic)
        self._tell(touched)

    def follow(self) -> None:
        """Count from now on: what was read until now stood in the topics before."""
        with self._lock:
            assert self._view is not None, "the follower begins before it has caught up"
            self._view.follow(self._counted)
            # What was read stays: a search for garbage in it would hold up answers for a second.
            gc.freeze()
        self._tell(Touched(everything=True))

    def _tell(self, touched: Touched) -> None:
        if touched:
            for told in self._listeners:
                told(touched)

    @property
    def is_whole(self) -> bool:
        """Whether all is read that stood in the topics when they were last read from the start."""
        view = self._view
        return view is not None and view.counters.following

    def snapshot(self) -> Snapshot | None:
        """Return all groups in numbers; None: not everything that stood in the topics is read.

        Half of the topics would show queues without owners. While the topics are read again, the
        former numbers are returned: a counter that goes and comes back looks as if it had grown.
        """
        places, in_detail = self._settings.max_groups, self._settings.queue_series
        with self._lock:
            view = self._view
            followed = view is not None and view.counters.following
            if followed and time.monotonic() - self._snapshot_at > FRESH_S:
                assert view is not None, "it follows"
                self._snapshot = view.snapshot(places, in_detail)
                self._snapshot_at = time.monotonic()
            return self._snapshot

    def query(self, question: Callable[[ObservedGroups], _Answer], otherwise: _Answer) -> _Answer:
        """Return the view's answer to a question; ``otherwise`` while there is no view."""
        with self._lock:
            return otherwise if self._view is None else question(self._view)

    def groups(self) -> list[dict[str, Any]]:
        """Return the lines of all groups, sorted by name."""
        if time.monotonic() - self._groups_at > FRESH_S:
            nothing: tuple[list[dict[str, Any]], int] = ([], 0)
            self._groups, self._as_of_ms = self.query(
                lambda view: ([each.to_json() for each in view.groups(_now_ms())], view.as_of_ms),
                nothing,
            )
            self._groups_at = time.monotonic()
        return self._groups

    def lines(self, names: Collection[str]) -> dict[str, dict[str, Any] | None]:
        """Return the lines of some groups; None: nobody knows such a group."""
        nothing: dict[str, GroupSummary | None] = {}
        found = self.query(lambda view: view.lines(names, _now_ms()), nothing)
        return {name: None if line is None else line.to_json() for name, line in found.items()}

    def late_shards(self) -> frozenset[int]:
        """Return the shards whose engine is silent while records come."""
        return self.query(lambda view: view.late_shards(), frozenset())

    def names(self) -> list[str]:
        """Return the names of all groups."""
        return self.query(lambda view: view.names(), [])

    def has_group(self, name: str) -> bool:
        """Tell whether anybody knows a group."""
        return self.query(lambda view: view.has_group(name), otherwise=False)

    @property
    def as_of_ms(self) -> int | None:
        """The newest append time that the last list of groups rests on; None: nothing was read."""
        return self._as_of_ms or None

    @property
    def newest_ms(self) -> int | None:
        """The newest append time that was read; None: nothing was read."""
        return self.query(lambda view: view.as_of_ms, 0) or None

    def bridges(self) -> list[dict[str, Any]]:
        """Return the bridge of each cluster, sorted by the clusters' names."""
        return self.query(lambda view: [each.to_json() for each in view.bridges(_now_ms())], [])

    def group(self, name: str) -> dict[str, Any] | None:
        """Return the description of one group; None: nobody knows it."""
        standing = self.query(lambda view: view.group(name, _now_ms()), None)
        return None if standing is None else standing.to_full_json()

    def decisions(
        self, name: str, since_ms: int = 0, after: int = -1
    ) -> list[dict[str, Any]] | None:
        """Return the decisions of a group, oldest first; None: nobody knows it.

        Args:
            name: the group.
            since_ms: leave out what was appended before.
            after: leave out what stands at this offset or before it.
        """
        decisions = self.query(lambda view: view.decisions(name), None)
        if decisions is None:
            return None
        return [
            each.to_json()
            for each in decisions
            if each.append_ms >= since_ms and each.place.offset > after
        ]

    def newest_offset(self, name: str) -> int:
        """Return the offset of a group's newest decision; −1: there is none."""
        decisions = self.query(lambda view: view.decisions(name), None)
        return max((each.place.offset for each in decisions or ()), default=-1)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
