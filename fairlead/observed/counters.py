"""What has happened to groups since somebody began to follow them: counts and times.

Prometheus takes a counter that appears, or grows, for something that has just happened. So what was
read of the past, before ``ObservedGroups.follow``, counts nowhere.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

__all__ = ["FALLBACKS", "OTHER", "PHASES", "GroupCounters", "Durations"]

PHASES: Final = ("detect", "decide", "release", "converge")
"""What a rebalance spends its time with (:class:`GroupCounters`)."""

FALLBACKS: Final = ("first_offset", "last_offset", "timestamp", "minimum")
"""The words of ``why`` (docs/protocol.md §3.12) that say that nobody had told a position."""

OTHER: Final = "__other__"
"""In place of the names of groups that have no place of their own."""

_BOUNDS: Final = (0.01, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0)


@dataclass(slots=True)
class Durations:
    """How long something took, in seconds, by bounds.

    ``counts``: how many took up to each bound and longer than the one before, and longer than all.
    """

    bounds: tuple[float, ...] = _BOUNDS
    counts: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS) + 1))
    sum_seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Take in one time."""
        self.counts[bisect_left(self.bounds, seconds)] += 1
        self.sum_seconds += seconds

    def buckets(self) -> list[tuple[str, int]]:
        """Return upper bounds as text, and how many took up to so long."""
        names = [*(str(bound) for bound in self.bounds), "+Inf"]
        return list(zip(names, accumulate(self.counts), strict=True))

    def copy(self) -> "Durations":
        """Return the same times, to be kept."""
        return Durations(self.bounds, list(self.counts), self.sum_seconds)


def _no_times() -> dict[str, Durations]:
    return {phase: Durations() for phase in PHASES}


@dataclass(slots=True)
class GroupCounters:
    """Counts by group and, where two are named, by another word.

    Attributes:
        rebalances: decisions, once for each of their triggers (§3.14); by trigger.
        moves: queues that a decision gave to a client which did not have them; by its first
            trigger. A queue that is given back to who had it last is none.
        fewest_moves: of the same decisions, how many queues had to move for an even share by
            number (:mod:`fairlead.observed.fewest_moves`), never more than did; by first trigger.
        handover_timeouts: queues of which a holder that had been told to give them up lapsed, or
            became mute, before it released them; each once.
        overlaps: queues that two live members were told to hold at once, for longer than a reader
            of several partitions may be misled, where the group's mode forbids it; each pair once.
        fenced: releases and progress under an epoch that was over: appended after the decision
            that called the grant resolved. A release that is repeated is none.
        expirations: clients taken for dead (cause ``client_expired``).
        conflicts: pairs of processes with one client id that were told of each other (notice
            ``duplicate_client_id``).
        fallbacks: grants of queues of which nobody had told a position, so that ``why`` is one of
            ``FALLBACKS``; by that word.
        phases: of rebalances, the decisions that moved queues. ``detect``: from the append of the
            first record that caused it (of a lapse, of the client's last heartbeat) to that of the
            newest that the decision had read. ``decide``: from there to the append of the decision.
            ``release``: of each queue, from the append of the decision that dropped it to that of
            its release. ``converge``: from the append of the decision, or of the first since the
            group had converged, to the heartbeat with which it has.
        gaps: of each queue that was released at a position, from the append of the release to the
            first word of its successor that it has begun: progress, or a heartbeat that says it
            holds all that it was told. So long, or less, nobody worked on it.
        named: groups that are told by name.
        folded: groups that are told together, as ``OTHER``.
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

    def took(self, phase: str, from_ms: int, to_ms: int) -> None:
        """Take in how long a phase took; clocks of two brokers may differ a little."""
        if self.following:
            self.phases[phase].add(max(0, to_ms - from_ms) / 1000)

    def gap(self, from_ms: int, to_ms: int) -> None:
        """Take in for how long nobody worked on a queue."""
        if self.following:
            self.gaps.add(max(0, to_ms - from_ms) / 1000)

    def copy(self) -> "GroupCounters":
        """Return the same counts, to be kept."""
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

    def give_places(self, groups: Sequence[str], places: int, first: Collection[str] = ()) -> None:
        """Decide which groups are told by name: so many, and once decided for good.

        A group that had a place later would bring all its counts at once, and take them from those
        of all others: both would look as if they had just happened.

        Args:
            groups: those that there are, in order.
            places: how many may be told by name.
            first: who has a place before all others.
        """
        self.named.intersection_update(groups)
        fresh = [name for name in groups if name not in self.named and name not in self.folded]
        for name in sorted(fresh, key=lambda name: name not in first):
            # A group may be called as all the others are: its series are theirs.
            has_place = len(self.named) < places and name != OTHER
            (self.named if has_place else self.folded).add(name)

    def place_of(self, group: str) -> str | None:
        """Return under which name a group is told; None: it is not told any more."""
        if group in self.named:
            return group
        return OTHER if group in self.folded or group == OTHER else None

    def forget(self, group: str) -> None:
        """Forget a group that is no more; what was told of it among others stays told."""
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
        """What is counted by group alone."""
        return (
            self.handover_timeouts,
            self.overlaps,
            self.fenced,
            self.expirations,
            self.conflicts,
        )
