"""The rebalance history of native groups, from what two looks saw differently.

A look sees only how a group stands: what comes and goes between two looks stays unseen, unless the
data plane counts generations (KIP-848 does, the classic protocol does not).
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from fairlead.native.group_look import GroupLook, MemberLook

__all__ = ["Rebalance", "Rebalances", "rebalance_between"]

_KEPT: Final = 50
"""Rebalances that are remembered of each group."""
_FLAPS: Final = 4
_FLAP_MS: Final = 300_000
"""So many rebalances in so long a time are flapping."""


@dataclass(frozen=True, slots=True)
class Rebalance:
    """What changed between two looks.

    Attributes:
        at_ms: when the second look saw it.
        group: the group.
        plane: its data plane.
        before: the generation of the first look; None: unknown.
        after: the generation of the second look.
        came: new members, by name.
        went: members that are gone, by name.
        moved: queues that have another owner, or lost the one they had.
        begun: queues that had no owner and have one.
        state: the state at the second look.
    """

    at_ms: int
    group: str
    plane: str
    before: int | None
    after: int | None
    came: tuple[str, ...]
    went: tuple[str, ...]
    moved: int
    begun: int
    state: str

    @property
    def missed(self) -> int | None:
        """The generations between the two looks that no look saw; None: nobody counts."""
        if self.before is None or self.after is None:
            return None
        return max(self.after - self.before - 1, 0)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "seen_ms": self.at_ms,
            "group": self.group,
            "native": self.plane,
            "native_generation_before": self.before,
            "native_generation": self.after,
            "generations_missed": self.missed,
            "came": list(self.came),
            "went": list(self.went),
            "queues_moved": self.moved,
            "queues_begun": self.begun,
            "native_state": self.state,
        }


def rebalance_between(before: GroupLook, after: GroupLook, at_ms: int) -> Rebalance | None:
    """Return what changed; None: nothing that a rebalance changes."""
    were, are = _by_id(before), _by_id(after)
    came = tuple(are[each].name for each in sorted(are.keys() - were.keys()))
    went = tuple(were[each].name for each in sorted(were.keys() - are.keys()))
    old, new = before.owners(), after.owners()
    # A coordinator tells no assignments during a rebalance: that queues have no owner then means
    # that nobody says.
    told = before.shares and after.shares
    moved = sum(new.get(queue) != owner for queue, owner in old.items()) if told else 0
    begun = len(new.keys() - old.keys()) if told else 0
    counted = before.generation != after.generation
    if not (came or went or moved or begun or counted):
        return None
    return Rebalance(
        at_ms,
        after.group,
        after.plane,
        before.generation,
        after.generation,
        came,
        went,
        moved,
        begun,
        after.state,
    )


def _by_id(look: GroupLook) -> dict[str, MemberLook]:
    return {each.member_id: each for each in look.members}


class Rebalances:
    """Remembers the last settled look of each group, and the newest rebalances."""

    def __init__(self) -> None:
        self._looks: dict[str, GroupLook] = {}
        self._held: dict[str, deque[Rebalance]] = {}
        self._counts: dict[str, int] = {}

    def note(self, looks: Iterable[GroupLook], at_ms: int) -> Iterator[Rebalance]:
        """Take the looks of one round; yield each rebalance since the round before.

        A group that is in the middle of a rebalance is compared when it has settled: so a
        rebalance comes out once, whole.
        """
        there = set()
        for look in looks:
            there.add(look.group)
            known = self._looks.get(look.group)
            if known is not None and not look.shares:
                continue
            self._looks[look.group] = look
            change = None if known is None else rebalance_between(known, look, at_ms)
            if change is not None:
                self._held.setdefault(look.group, deque(maxlen=_KEPT)).append(change)
                self._counts[look.group] = self._counts.get(look.group, 0) + 1
                yield change
        for group in self._looks.keys() - there:
            # A deleted group: its name may come back as another one.
            for held in (self._looks, self._held, self._counts):
                held.pop(group, None)

    def of(self, group: str) -> list[Rebalance]:
        """Return the newest rebalances of a group, the oldest first."""
        return list(self._held.get(group, ()))

    def count(self, group: str) -> int:
        """Return how many were seen since the first look."""
        return self._counts.get(group, 0)

    def flaps(self, group: str, now_ms: int) -> int:
        """Return how many were seen lately, if they are so many that the group flaps; else 0."""
        recent = sum(each.at_ms > now_ms - _FLAP_MS for each in self.of(group))
        return recent if recent >= _FLAPS else 0
