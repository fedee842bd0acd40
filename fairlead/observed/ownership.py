"""Who holds which queue of a group, by what its members were told and what has ended since."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.observed.assignments import Told
from fairlead.observed.decided import Decided

__all__ = ["Hold", "HoldState", "Holds", "holds_of"]

HoldState = Literal["held", "gated", "draining"]


class Hold(NamedTuple):
    """Where one queue is.

    Attributes:
        state: ``held``: its owner works on it; ``gated``: its owner waits for the release of a
            holder before; ``draining``: its holder gives it up, and nobody is granted it yet.
        owner: whose queue it is; None while it is draining.
        epoch: of the newest grant.
        holder: who has been told to give it up and has not; None: nobody.
        also: other members that were told that they hold it.
    """

    state: HoldState
    owner: MemberKey | None
    epoch: Epoch
    holder: MemberKey | None = None
    also: tuple[MemberKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Holds:
    """All queues of a group that anybody was told of.

    ``owned``: how many queues each member owns, those that it waits for included. ``contested``:
    the queues that somebody gives up, or that others were told to hold too.
    """

    queues: Mapping[MessageQueue, Hold]
    owned: Mapping[MemberKey, int]
    draining: int
    gated: int
    contested: tuple[MessageQueue, ...] = ()

    @property
    def shared_twice(self) -> dict[MessageQueue, tuple[MemberKey, ...]]:
        """The queues that several members were told to hold, and who these are."""
        return {
            queue: (hold.owner, *hold.also)
            for queue in self.contested
            if (hold := self.queues[queue]).also and hold.owner is not None
        }


def holds_of(
    told: Told,
    decided: Decided,
    released: Mapping[MessageQueue, Iterable[Epoch]],
    settled: Container[MemberKey],
) -> Holds:
    """Return where every queue is.

    A set stays as it is when its member has given up what it was told to (docs/protocol.md §3.12),
    and when a successor has started by itself. What has ended since is known from decisions, from
    ``released``, the epochs of the newest releases of each queue, and from the digests of
    ``settled`` members: they have given up everything that they were told to, and wait for nothing.
    """
    queues: dict[MessageQueue, Hold] = {}
    owned: Counter[MemberKey] = Counter()
    for queue, entries in told.queues().items():
        ended = released.get(queue, ())
        newest: MemberKey | None = None
        epoch, waits, behind = entries[-1][1].epoch, False, False
        holder: MemberKey | None = None
        also: list[MemberKey] = []
        for member, entry in entries:
            over = entry.epoch in ended or decided.is_over(queue, entry.epoch)
            if entry.state == "draining":
                if not over and member not in settled:
                    holder = member
            elif not over:
                if newest is not None and newest != member:
                    behind = True
                    if not waits:
                        # Who was told to wait and has not started shares nothing.
                        also.append(newest)
                waits = entry.state == "gated" and member not in settled
                newest, epoch = member, entry.epoch
        if newest is not None:
            owned[newest] += 1
            state: HoldState = "gated" if waits and (holder or behind) else "held"
            queues[queue] = Hold(state, newest, epoch, holder, () if waits else tuple(also))
        elif holder is not None:
            queues[queue] = Hold("draining", None, epoch, holder)
    states = Counter(hold.state for hold in queues.values())
    contested = tuple(queue for queue, hold in queues.items() if hold.holder or hold.also)
    return Holds(queues, owned, states["draining"], states["gated"], contested)
