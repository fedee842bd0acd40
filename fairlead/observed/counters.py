"""Counts and times of what has happened to groups since somebody began to follow them.

Prometheus takes a counter that appears or grows as something that has just happened. So nothing
read before ``ObservedGroups.follow`` is counted.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

__all__ = ["FALLBACKS", "OTHER", "PHASES", "Durations", "GroupCounters"]

PHASES: Final = ("detect", "decide", "release", "converge")
"""The phases of a rebalance (:class:`GroupCounters`)."""

FALLBACKS: Final = ("first_offset", "last_offset", "timestamp", "minimum")
"""The values of ``why`` (docs/protocol.md §3.12) that mean that nobody had told a position."""

OTHER: Final = "__other__"
"""Stands for the groups that are not told by name."""

_BOUNDS: Final = (0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)


@dataclass(slots=True)
class Durations:
    """How long something took, in seconds, as a histogram.

    ``counts``: how many fell into each bucket; the last one is for everything longer.
    """

    bounds: tuple[float, ...] = _BOUNDS
    counts: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS) + 1))
    sum_seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Add one time."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.sum_seconds += seconds

    def buckets(self) -> list[tuple[str, int]]:
        """Return the upper bounds as text, each with how many took no longer."""
        names = [*(str(bound) for bound in self.bounds), "+Inf"]
        return list(zip(names, accumulate(self.counts), strict=True))

    def copy(self) -> "Durations":
        """Return a copy."""
        return Durations(self.bounds, list(self.counts), self.sum_seconds)


def _no_times() -> dict[str, Durations]:
    return {phase: Durations() for phase in PHASES}


@dataclass(slots=True)
class GroupCounters:
    """Counts by group and, where two words are named, by another word.

    Attributes:
        rebalances: decisions, once for each of their triggers (§3.14); by trigger.
        moves: queues that a decision gave to a client that did not have them; by the decision's
            first trigger. A queue that goes back to its last owner does not count.
        fewest_moves: for the same decisions, how many queues had to move for an even share by
            number (:mod:`fairlead.observed.fewest_moves`), at most as many as did; by trigger.
        handover_timeouts: dropped queues whose holder lapsed or became mute before it released
            them; each once.
        overlaps: queues assigned to two live members at once although the group's mode forbids it,
            for longer than reading several partitions can mislead; each pair once.
        fenced: releases and progress under an epoch that was over, that is, appended after the
            decision that resolved the grant. A repeated release does not count.
        expirations: clients taken for dead (cause ``client_expired``).
        conflicts: pairs of processes with one client id, by their notices
            (``duplicate_client_id``).
        fallbacks: grants of queues whose position nobody had told, so that ``why`` is one of
            ``FALLBACKS``; by that word.
        phases: times of the decisions that moved queues. ``detect``: from the first record that
            caused the decision (for a lapse, the client's last heartbeat) to the newest record it
            had read. ``decide``: from there to the decision. ``release``: for each queue, from the
            decision that dropped it to its release. ``converge``: from the decision, or the first
            one since the group last converged, to the heartbeat with which it converged. All times
            are those of the appends.
        gaps: for each queue released at a position, from the release to the first record in which
            its successor shows that it has begun: progress, or a heartbeat that says it holds
            its whole assignment. Nobody worked on the queue for at most this long.
        named: groups with a name of their own.
        folded: groups counted together, as ``OTHER``.
    """

    following: bool = False
    rebalances: Counter[tuple[str, str]] = field(default_factory=Counter)
    moves: Counter[tuple[str, str]] = field(default_factory=Counter)
    fewest_moves: Counter[tuple[str, str]] = field(default_factory=Counter)
    handover_timeouts: Counter[str] = field(default_factory=Counter)
    overlaps: Counter[str] = field(default_factory=Counter)
    fenced: Counter[str] = field(default_factory=Counter)
    expirations: Counter[str] = field(default_factory=Counter)
    conflicts: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[tuple[str, str]] = field(default_factory=Counter)
    phases: dict[str, Durations] = field(default_factory=_no_times)
    gaps: Durations = field(default_factory=Durations)
    named: set[str] = field(default_factory=set)
    folded: set[str] = field(default_factory=set)

    def observe_phase(self, phase: str, from_ms: int, to_ms: int) -> None:
        """Add how long a phase took; the clocks of two brokers may differ a little."""
        if self.following:
            self.phases[phase].add(max(0, to_ms - from_ms) / 1000)

    def observe_gap(self, from_ms: int, to_ms: int) -> None:
        """Add for how long nobody worked on a queue."""
        if self.following:
            self.gaps.add(max(0, to_ms - from_ms) / 1000)

    def copy(self) -> "GroupCounters":
        """Return a copy."""
        return GroupCounters(
            self.following,
            self.rebalances.copy(),
            self.moves.copy(),
            self.fewest_moves.copy(),
            self.handover_timeouts.copy(),
            self.overlaps.copy(),
            self.fenced.copy(),
            self.expirations.copy(),
            self.conflicts.copy(),
            self.fallbacks.copy(),
            {phase: times.copy() for phase, times in self.phases.items()},
            self.gaps.copy(),
            set(self.named),
            set(self.folded),
        )

    def choose_named(self, groups: Sequence[str], places: int, first: Collection[str] = ()) -> None:
        """Decide which groups have their own name; the decision about a group is final.

        A group that got its place later would bring all its counts at once and take them from
        those of the others: both would look as if they had just happened.

        Args:
            groups: all groups, in order.
            places: how many may be told by name.
            first: groups that get a place before all others.
        """
        self.named.intersection_update(groups)
        fresh = [name for name in groups if name not in self.named and name not in self.folded]
        for name in sorted(fresh, key=lambda name: name not in first):
            # A group may itself be called `OTHER`: it then counts with the others.
            has_place = len(self.named) < places and name != OTHER
            (self.named if has_place else self.folded).add(name)

    def label_of(self, group: str) -> str | None:
        """Return the name that a group counts under; None: it does not count any more."""
        if group in self.named:
            return group
        return OTHER if group in self.folded or group == OTHER else None

    def forget(self, group: str) -> None:
        """Forget a group that is gone; its share of the counts of `OTHER` stays."""
        folded = group in self.folded
        self.folded.discard(group)
        if group == OTHER:
            return
        for pairs in (self.rebalances, self.moves, self.fewest_moves, self.fallbacks):
            for key in [key for key in pairs if key[0] == group]:
                number = pairs.pop(key)
                if folded:
                    pairs[OTHER, key[1]] += number
        for singles in self.singles:
            number = singles.pop(group, 0)
            if folded:
                singles[OTHER] += number

    @property
    def singles(self) -> tuple[Counter[str], ...]:
        """The counters that are by group alone."""
        return (
            self.handover_timeouts,
            self.overlaps,
            self.fenced,
            self.expirations,
            self.conflicts,
        )
