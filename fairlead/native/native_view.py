"""What this process knows of native groups: the newest looks, and the history (ADR 0255)."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fairlead.native.cluster_look import ClusterLook
from fairlead.native.group_look import Kind
from fairlead.native.observation import ObservedLook, observed
from fairlead.native.rebalances import Rebalance, Rebalances

__all__ = ["NativeGroupSeen", "NativeView", "SourceStanding"]


@dataclass(slots=True)
class SourceStanding:
    """How a cluster is looked at.

    Attributes:
        kind: its data plane.
        address: where it is.
        seen_ms: when the newest look ended; None: there was none.
        trouble: why the latest look failed; "": it went well.
        unheard: servers that did not answer in the newest look.
        failures: how many looks have failed.
    """

    kind: Kind
    address: str
    seen_ms: int | None = None
    trouble: str = ""
    unheard: tuple[str, ...] = ()
    failures: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "native": self.kind,
            "native_address": self.address,
            "seen_ms": self.seen_ms,
            "trouble": self.trouble or None,
            "unheard": list(self.unheard),
        }


@dataclass(frozen=True, slots=True)
class NativeGroupSeen:
    """A native group, and what is remembered of it.

    Attributes:
        observed: the newest look, and what follows from it.
        rebalances: the newest ones that looks saw, the oldest first.
        rebalances_seen: how many they saw since the first.
        moves_seen: how many queues these have moved.
    """

    observed: ObservedLook
    rebalances: tuple[Rebalance, ...]
    rebalances_seen: int
    moves_seen: int

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            **self.observed.to_json(),
            "rebalances_seen": self.rebalances_seen,
            "rebalance_list": [each.to_json() for each in self.rebalances],
        }

    def summary(self) -> dict[str, Any]:
        """Return JSON values for a list."""
        return {
            **self.observed.summary(),
            "rebalances_seen": self.rebalances_seen,
            "last_native": self.rebalances[-1].to_json() if self.rebalances else None,
        }


@dataclass(slots=True)
class _Cluster:
    standing: SourceStanding
    history: Rebalances = field(default_factory=Rebalances)
    moves: dict[str, int] = field(default_factory=dict)
    groups: dict[str, ObservedLook] = field(default_factory=dict)


class NativeView:
    """The newest looks; any thread may ask it.

    Args:
        sources: the data planes that are looked at, and where each is.
    """

    def __init__(self, sources: Iterable[tuple[Kind, str]]) -> None:
        self._guard = threading.Lock()
        self._clusters = {kind: _Cluster(SourceStanding(kind, at)) for kind, at in sources}

    def took(self, kind: Kind, look: ClusterLook, at_ms: int) -> None:
        """Take a look that has ended; ``at_ms``: when."""
        seen = {each.group: observed(each) for each in look.groups}
        cluster = self._clusters[kind]
        with self._guard:
            for over in cluster.history.note(look.groups, at_ms):
                cluster.moves[over.group] = cluster.moves.get(over.group, 0) + over.moved
            cluster.moves = {name: each for name, each in cluster.moves.items() if name in seen}
            cluster.groups = seen
            failures = cluster.standing.failures
            address = cluster.standing.address
            cluster.standing = SourceStanding(kind, address, at_ms, "", look.unheard, failures)

    def failed(self, kind: Kind, why: str) -> bool:
        """Remember that a look failed; return whether that is news.

        What was seen before stays, and says how old it is.
        """
        with self._guard:
            was = self._clusters[kind].standing
            self._clusters[kind].standing = SourceStanding(
                kind, was.address, was.seen_ms, why, was.unheard, was.failures + 1
            )
        return was.trouble != why

    def sources(self) -> list[SourceStanding]:
        """Return how each cluster is looked at."""
        with self._guard:
            return [each.standing for each in self._clusters.values()]

    def groups(self) -> list[NativeGroupSeen]:
        """Return all groups by name."""
        with self._guard:
            found = [
                (name, self._seen(cluster, name))
                for cluster in self._clusters.values()
                for name in cluster.groups
            ]
        return [each for _, each in sorted(found, key=lambda each: each[0])]

    def group(self, kind: str, name: str) -> NativeGroupSeen | None:
        """Return a group with what changes would move; None: no look has seen it."""
        cluster = next((each for own, each in self._clusters.items() if own == kind), None)
        if cluster is None:
            return None
        with self._guard:
            found = cluster.groups.get(name)
        if found is None:
            return None
        if found.moves is None:
            # Asked for once a look, when somebody wants it; without the lock, for it takes a while.
            found = observed(found.look, planned=True)
        with self._guard:
            if name in cluster.groups and cluster.groups[name].look is found.look:
                cluster.groups[name] = found
            return self._seen(cluster, name, found)

    def _seen(
        self, cluster: _Cluster, name: str, found: ObservedLook | None = None
    ) -> NativeGroupSeen:
        history = cluster.history
        return NativeGroupSeen(
            found or cluster.groups[name],
            tuple(history.of(name)),
            history.count(name),
            cluster.moves.get(name, 0),
        )
