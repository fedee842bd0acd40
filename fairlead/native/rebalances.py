"""The rebalance history of native groups, from looks that follow each other (ADR 0214).

A look sees only how a group stands: what comes and goes between two looks stays unseen, unless the
data plane counts generations (KIP-848 does, the classic protocol and RocketMQ do not).
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fairlead.core.model import MessageQueue
from fairlead.counts import counted, listed
from fairlead.native.group_look import GroupLook, Kind

__all__ = ["Rebalance", "Rebalances"]

_KEPT: Final = 50
"""Rebalances that are remembered of each group."""
_FLAPPING_MS: Final = 600_000
_FLAPPING_MIN: Final = 3
"""Who came and went so often in so long a time flaps."""

_Owners = Mapping[MessageQueue, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Rebalance:
    """Queues that have other owners than before, and who caused it.

    Attributes:
        group: the group.
        kind: its data plane.
        begun_ms: when a look first saw a change.
        over_ms: when a look saw that it was over.
        before: the generation before; None: nobody counts.
        after: the generation after; None: nobody counts.
        joined: members that came, by name.
        left: members that went, by name.
        moved: queues that have another owner, or lost the one they had.
        begun: queues that had no owner and have one.
        added: by how many queues the topics have grown.
        flapping: client ids that came and went at least three times in ten minutes, and hosts, as
            if each of their members had. Ids may have a process number, and never come back.
    """

    group: str
    kind: Kind
    begun_ms: int
    over_ms: int
    before: int | None
    after: int | None
    joined: tuple[str, ...]
    left: tuple[str, ...]
    moved: int
    begun: int
    added: int
    flapping: tuple[str, ...]

    @property
    def missed(self) -> int | None:
        """The generations in between that no look saw; None: nobody counts."""
        if self.before is None or self.after is None:
            return None
        return max(self.after - self.before - 1, 0)

    @property
    def says(self) -> str:
        """Who caused it, and what it moved."""
        causes = [f"{each} joined" for each in self.joined]
        causes += [f"{each} left" for each in self.left]
        if self.added:
            causes.append(f"{counted(self.added, 'queue')} more")
        words = f"{listed(causes) or 'no cause seen'}: {counted(self.moved, 'queue')} moved"
        if self.begun:
            words += f", {self.begun} begun"
        took_s = (self.over_ms - self.begun_ms) / 1_000
        words += f" in {took_s:.0f} s" if took_s else ""
        if self.missed:
            words += f"; {counted(self.missed, 'generation')} unseen in between"
        return f"{words}; flapping: {listed(self.flapping)}" if self.flapping else words

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "group": self.group,
            "native": self.kind,
            "begun_ms": self.begun_ms,
            "over_ms": self.over_ms,
            "native_generation_before": self.before,
            "native_generation": self.after,
            "generations_missed": self.missed,
            "members_joined": list(self.joined),
            "members_left": list(self.left),
            "queues_moved": self.moved,
            "queues_begun": self.begun,
            "queues_added": self.added,
            "flapping": list(self.flapping),
            "says": self.says,
        }


@dataclass(slots=True)
class _Known:
    """A group: how it was when it was last at rest, and at the latest look."""

    rest: GroupLook
    rest_owners: _Owners
    latest: GroupLook
    owners: _Owners
    begun_ms: int | None = None
    joined: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    comings: deque[tuple[int, str, bool]] = field(default_factory=deque)
    past: deque[Rebalance] = field(default_factory=lambda: deque(maxlen=_KEPT))
    count: int = 0


class Rebalances:
    """Folds looks into rebalances, and remembers the newest of each group.

    A rebalance begins with the first look that differs from the one before, in members, owners or
    generation. It is over when the data plane says that the group is at rest or, where it says
    nothing, with the first look that does not differ.
    """

    def __init__(self) -> None:
        self._groups: dict[str, _Known] = {}

    def note(self, looks: Iterable[GroupLook], at_ms: int) -> Iterator[Rebalance]:
        """Take the looks of one round; yield each rebalance that it shows as over."""
        there = set()
        for look in looks:
            there.add(look.group)
            known = self._groups.get(look.group)
            if known is None:
                # In the middle of a rebalance nobody says who has what.
                if look.settled is not False:
                    owners = _owners(look, {})
                    self._groups[look.group] = _Known(look, owners, look, owners)
                continue
            over = _noted(known, look, at_ms)
            if over is not None:
                known.past.append(over)
                known.count += 1
                yield over
        for group in self._groups.keys() - there:
            # A deleted group: its name may come back as another one.
            del self._groups[group]

    def of(self, group: str) -> list[Rebalance]:
        """Return the newest rebalances of a group, the oldest first."""
        return list(self._groups[group].past) if group in self._groups else []

    def count(self, group: str) -> int:
        """Return how many were seen since the first look."""
        return self._groups[group].count if group in self._groups else 0


def _noted(known: _Known, look: GroupLook, at_ms: int) -> Rebalance | None:
    if look.settled is False:
        known.begun_ms = at_ms if known.begun_ms is None else known.begun_ms
        return None
    owners = _owners(look, known.owners)
    were = {each.member_id: each for each in known.latest.members}
    are = {each.member_id: each for each in look.members}
    joined = [are[each] for each in sorted(are.keys() - were.keys())]
    left = [were[each] for each in sorted(were.keys() - are.keys())]
    known.joined += [each.name for each in joined]
    known.left += [each.name for each in left]
    for each in (*joined, *left):
        came = each.member_id in are
        known.comings += ((at_ms, name, came) for name in {each.client_id, each.host})
    differs = bool(joined or left) or owners != known.owners
    differs |= look.generation != known.latest.generation
    known.latest, known.owners = look, owners
    if differs and known.begun_ms is None:
        known.begun_ms = at_ms
    if known.begun_ms is None or (differs and look.settled is None):
        return None
    over = _over(known, known.begun_ms, at_ms)
    known.rest, known.rest_owners, known.begun_ms = look, owners, None
    known.joined, known.left = [], []
    nothing = not (over.joined or over.left or over.moved or over.begun or over.added)
    return None if nothing and over.before == over.after else over


def _owners(look: GroupLook, before: _Owners) -> _Owners:
    """Return who owns what. Of members that say nothing it is what they had before."""
    silent = {each.member_id for each in look.members if each.silence}
    return {
        queue: tuple(sorted({*owners, *(silent & {*before.get(queue, ())})}))
        for queue, owners in look.owners().items()
    }


def _over(known: _Known, begun_ms: int, at_ms: int) -> Rebalance:
    while known.comings and known.comings[0][0] < at_ms - _FLAPPING_MS:
        known.comings.popleft()
    before, now = known.rest_owners, known.owners
    return Rebalance(
        group=known.latest.group,
        kind=known.latest.kind,
        begun_ms=begun_ms,
        over_ms=at_ms,
        before=known.rest.generation,
        after=known.latest.generation,
        joined=tuple(known.joined),
        left=tuple(known.left),
        moved=sum(bool(owners) and now.get(queue) != owners for queue, owners in before.items()),
        begun=sum(bool(owners) and not before.get(queue) for queue, owners in now.items()),
        added=len(now.keys() - before.keys()),
        flapping=_flapping(known),
    )


def _flapping(known: _Known) -> tuple[str, ...]:
    comings = Counter((name, came) for _, name, came in known.comings)
    present = Counter(each.host for each in (*known.rest.members, *known.latest.members))
    # A deploy of all members of a host is one coming and going of each.
    return tuple(
        sorted(
            name
            for name, came in comings
            if came
            and min(comings[name, True], comings[name, False])
            >= _FLAPPING_MIN * max(1, (present[name] + 1) // 2)
        )
    )
