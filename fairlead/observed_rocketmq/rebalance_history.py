"""The rebalances of groups, told from looks that follow each other (ADR 0214)."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.core.model import MessageQueue
from fairlead.counts import counted, listed
from fairlead.observed_rocketmq.seen_group import SeenGroup

__all__ = ["Rebalance", "RebalanceHistory"]

_FLAPPING_MS: Final = 600_000
_FLAPPING_MIN: Final = 3

Owners = dict[MessageQueue, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Rebalance:
    """Queues that have other owners than before, and who caused it.

    Attributes:
        group: the group.
        begun_ms: when the first change was seen.
        ended_ms: when a look saw nothing change any more.
        joined: clients that came.
        left: clients that went.
        moves: how many queues have another owner than before it.
        grown: by how many queues the topics have grown.
        flapping: the hosts whose clients came and went at least three times in ten minutes.
    """

    group: str
    begun_ms: int
    ended_ms: int
    joined: tuple[str, ...]
    left: tuple[str, ...]
    moves: int
    grown: int
    flapping: tuple[str, ...]

    @property
    def says(self) -> str:
        """Who caused it, and what it moved."""
        causes = [f"{each} joined" for each in self.joined]
        causes += [f"{each} left" for each in self.left]
        if self.grown:
            causes.append(f"{counted(self.grown, 'queue')} more")
        took = (self.ended_ms - self.begun_ms) / 1000
        words = (
            f"{listed(causes) or 'no cause seen'}: {counted(self.moves, 'move')} in {took:.0f} s"
        )
        return f"{words}; flapping: {listed(self.flapping)}" if self.flapping else words

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "group": self.group,
            "begun_ms": self.begun_ms,
            "over_ms": self.ended_ms,
            "clients_joined": list(self.joined),
            "clients_left": list(self.left),
            "moves_seen": self.moves,
            "queues_added": self.grown,
            "flapping": list(self.flapping),
            "says": self.says,
        }


@dataclass(slots=True)
class _Group:
    ids: frozenset[str]
    settled: Owners
    latest: Owners
    begun_ms: int | None = None
    joined: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    comings: deque[tuple[int, str]] = field(default_factory=deque)


class RebalanceHistory:
    """Folds looks into rebalances. A look without owners only says who is there."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}

    def is_settled(self, group: str) -> bool:
        """Return whether no rebalance of the group is under way."""
        return group not in self._groups or self._groups[group].begun_ms is None

    def knows(self, group: str, ids: Iterable[str]) -> bool:
        """Return whether the latest look saw the same members."""
        return group in self._groups and self._groups[group].ids == frozenset(ids)

    def add(self, seen: SeenGroup, now_ms: int) -> Rebalance | None:
        """Take a look at a group with its owners; return the rebalance that it shows as over."""
        ids, owners = frozenset(each.client_id for each in seen.members), seen.owners
        group = self._groups.get(seen.name)
        if group is None:
            self._groups[seen.name] = _Group(ids, owners, owners)
            return None
        joined, left = sorted(ids - group.ids), sorted(group.ids - ids)
        group.joined += joined
        group.left += left
        group.comings.extend((now_ms, each.partition("@")[0]) for each in (*joined, *left))
        group.ids = ids
        changed = bool(joined or left) or owners != group.latest
        group.latest = owners
        if changed:
            group.begun_ms = now_ms if group.begun_ms is None else group.begun_ms
            return None
        return None if group.begun_ms is None else _ended(seen, group, now_ms)


def _ended(seen: SeenGroup, group: _Group, now_ms: int) -> Rebalance:
    assert group.begun_ms is not None, "it asks for the end of what has begun"
    while group.comings and group.comings[0][0] < now_ms - _FLAPPING_MS:
        group.comings.popleft()
    hosts = [host for _, host in group.comings]
    # A client that came back under its own id both came and went.
    rebalance = Rebalance(
        group=seen.name,
        begun_ms=group.begun_ms,
        ended_ms=now_ms,
        joined=tuple(group.joined),
        left=tuple(group.left),
        moves=sum(
            group.latest[queue] != owners
            for queue, owners in group.settled.items()
            if queue in group.latest
        ),
        grown=len(group.latest.keys() - group.settled.keys()),
        flapping=tuple(sorted({h for h in hosts if hosts.count(h) >= 2 * _FLAPPING_MIN})),
    )
    group.settled, group.begun_ms, group.joined, group.left = group.latest, None, [], []
    return rebalance
