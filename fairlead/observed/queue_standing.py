"""Where one queue of a group stands: who holds it, who gives it up, and who waits for whom."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairlead.core.model import NOTHING, Epoch, MemberKey, MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.observed.decided import Tenure
from fairlead.observed.live_group import LiveGroup
from fairlead.observed.ownership import Hold, HoldState
from fairlead.observed.positions import Place

__all__ = ["Holder", "QueueStanding", "queue_standings"]


@dataclass(frozen=True, slots=True)
class Holder:
    """A member that was told to hold, give up or wait for a queue.

    Attributes:
        member: who.
        epoch: of its grant.
        since_ms: when it was granted, for a drain when it was dropped; None: the log does not say.
        alive: it heartbeats.
        waits_for: whose release a gated grant waits for.
    """

    member: MemberKey
    epoch: Epoch
    since_ms: int | None
    alive: bool
    waits_for: tuple[MemberKey, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "client_id": self.member.client_id,
            "incarnation": self.member.incarnation,
            "epoch": [*self.epoch],
            "since_ms": self.since_ms,
            "alive": self.alive,
            "waits_for": [each.client_id for each in self.waits_for],
        }


@dataclass(frozen=True, slots=True)
class QueueStanding:
    """One queue.

    Attributes:
        queue: which.
        held: who works on it; more than one is an overlap.
        draining: who was told to stop and has not released it.
        gated: who is to start and waits.
        target: where it goes in the end; None: to nobody.
        place: how far the group is in it.
        hold: the same in one word, and who owns it; None: nobody was told of it.
        tenure: who was granted it last, and since when nobody else was; None: no decision tells.
        idle_ms: how long its owner has not tried to pull it; None: nobody told.
        readable: its topic's route has it, and somebody shares the topic.
        unsafe: it was granted without waiting for somebody who may be working on it.
    """

    queue: MessageQueue
    held: tuple[Holder, ...]
    draining: tuple[Holder, ...]
    gated: tuple[Holder, ...]
    target: str | None
    place: Place
    hold: Hold | None
    tenure: Tenure | None
    idle_ms: int | None
    readable: bool
    unsafe: bool = False

    @property
    def holders(self) -> tuple[Holder, ...]:
        """Everybody who has anything to do with it."""
        return (*self.held, *self.draining, *self.gated)

    @property
    def newest(self) -> Holder | None:
        """Return the newest grant; None: nobody was granted it."""
        return max(self.holders, key=lambda holder: holder.epoch, default=None)

    @property
    def state(self) -> str:
        """``held``, ``gated`` or ``draining``, of its owner or last holder; else ``unassigned``."""
        return "unassigned" if self.hold is None else self.hold.state

    @property
    def owner(self) -> MemberKey | None:
        """Whose it is, or is about to be; None: nobody's."""
        return None if self.hold is None else self.hold.owner

    @property
    def owner_since_ms(self) -> int | None:
        """Since when its owner has it without another in between; None: the log does not say."""
        return None if self.tenure is None else self.tenure.since_ms

    @property
    def passing(self) -> bool:
        """Whether it is on its way from one member to another."""
        return bool(self.draining or self.gated)

    @property
    def unassigned(self) -> bool:
        """Whether nobody holds it, and nobody gets it."""
        return self.readable and not self.held and not self.gated and self.target is None

    def document(self) -> dict[str, Any]:
        """Return JSON values."""
        newest, place = self.newest, self.place
        return {
            "queue": [*self.queue],
            "state": self.state,
            "owner": None if self.owner is None else self.owner.client_id,
            "owner_since_ms": self.owner_since_ms,
            "decided_at": None if self.tenure is None else self.tenure.decision.document(),
            "held": [each.document() for each in self.held],
            "draining": [each.document() for each in self.draining],
            "gated": [each.document() for each in self.gated],
            "target": self.target,
            "epoch": None if newest is None else [*newest.epoch],
            "since_ms": None if newest is None else newest.since_ms,
            "waits_for": [each.client_id for one in self.gated for each in one.waits_for],
            "position": None if place.position is None else [*place.position],
            "why": place.told_by,
            "end": place.end,
            "end_is_older": place.end_is_older,
            "lag_messages": place.lag,
            "lag_ms": place.lag_ms,
            "lag_at_least": place.lag_at_least,
            "idle_ms": self.idle_ms,
            "readable": self.readable,
            "unassigned": self.unassigned,
            "unsafe": self.unsafe,
        }


def queue_standings(
    live: LiveGroup,
    now_ms: int,
    places: Mapping[MessageQueue, Place],
) -> tuple[QueueStanding, ...]:
    """Return every queue that is shared, held by anybody, or in which the group has a position.

    Args:
        live: the group.
        now_ms: up to when messages wait.
        places: where the data cluster says the group is; it knows better than what was told.
    """
    owners, readable = live.picture.owners, frozenset(live.picture.queues)
    shares = _holders(live)
    measured = live.observed.measured
    seen = frozenset().union(readable, shares, places, measured.queues)
    found = []
    for queue in sorted(seen, key=queue_order):
        place = places.get(queue)
        if place is None:
            place = measured.place(queue, now_ms)
        held = shares.get(queue, {})
        of_queue = {word: tuple(held.get(word, ())) for word in ("held", "draining", "gated")}
        newest = max((one.epoch for each in of_queue.values() for one in each), default=NOTHING)
        granted = live.observed.decided.grant(queue, newest)
        hold = live.observed.holds.queues.get(queue)
        tenure = live.observed.decided.tenures.get(queue)
        measure = measured.queues.get(queue)
        found.append(
            QueueStanding(
                queue,
                of_queue["held"],
                of_queue["draining"],
                of_queue["gated"],
                _target(live, of_queue, owners.get(queue)),
                place,
                hold,
                tenure if hold is not None and tenure and tenure.epoch == hold.epoch else None,
                None if measure is None else measure.idle_ms,
                readable=queue in readable,
                unsafe=bool(of_queue["draining"]) and granted is not None and granted.unsafe,
            )
        )
    return tuple(found)


def _target(
    live: LiveGroup, of_queue: Mapping[str, tuple[Holder, ...]], owner: str | None
) -> str | None:
    """Return where a queue goes; in a paused group it stays with whom it is or goes to."""
    if not live.core.rules.pause:
        return owner
    holders = of_queue["gated"] or of_queue["held"]
    return holders[0].member.client_id if holders else None


def _holders(live: LiveGroup) -> dict[MessageQueue, dict[HoldState, list[Holder]]]:
    found: dict[MessageQueue, dict[HoldState, list[Holder]]] = {}
    for queue, shares in live.observed.shares().items():
        for share in shares:
            since_ms = live.observed.since_ms(queue, share)
            alive = share.member in live.core.state.members
            holder = Holder(share.member, share.epoch, since_ms, alive, share.waits_for)
            found.setdefault(queue, {}).setdefault(share.state, []).append(holder)
    return found
