"""How one queue of a group stands: who holds it, who gives it up, and who waits for whom."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairlead.core.model import NOTHING, Epoch, MemberKey, MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.observed.group_decisions import LastGrant
from fairlead.observed.live_group import LiveGroup
from fairlead.observed.ownership import QueueOwnership, ShareState
from fairlead.observed.positions import QueuePosition

__all__ = ["GrantHolder", "QueueStanding", "queue_standings"]


@dataclass(frozen=True, slots=True)
class GrantHolder:
    """A member that has to hold, give up or wait for a queue.

    Attributes:
        member: who.
        epoch: of its grant.
        since_ms: when it was granted or, for a drain, dropped; None: the log does not say.
        alive: it heartbeats.
        waits_for: the members whose release a gated grant waits for.
    """

    member: MemberKey
    epoch: Epoch
    since_ms: int | None
    alive: bool
    waits_for: tuple[MemberKey, ...] = ()

    def to_json(self) -> dict[str, Any]:
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
        queue: the queue.
        held: members that work on it; more than one is an overlap.
        draining: members that have to stop and have not released it.
        gated: members that wait to start.
        target: its future owner; None: nobody.
        place: how far the group is in it.
        hold: its state in one word, and its owner; None: no assignment names it.
        newest_grant: its newest grant; None: no decision that was read tells it.
        idle_ms: how long its owner has not tried to pull it; None: nobody told.
        readable: its topic's route has it, and somebody shares the topic.
        ownerless: the group shares it, has members, and no assignment names it.
        unsafe: its newest grant was made without waiting for somebody who may be working on it.
    """

    queue: MessageQueue
    held: tuple[GrantHolder, ...]
    draining: tuple[GrantHolder, ...]
    gated: tuple[GrantHolder, ...]
    target: str | None
    place: QueuePosition
    hold: QueueOwnership | None
    newest_grant: LastGrant | None
    idle_ms: int | None
    readable: bool
    ownerless: bool = False
    unsafe: bool = False

    @classmethod
    def gone(cls, queue: MessageQueue) -> "QueueStanding":
        """Return a queue that no record tells of any more."""
        return cls(queue, (), (), (), None, QueuePosition(), None, None, None, readable=False)

    @property
    def holders(self) -> tuple[GrantHolder, ...]:
        """All members that have a share in it."""
        return (*self.held, *self.draining, *self.gated)

    @property
    def newest(self) -> GrantHolder | None:
        """The newest grant; None: nobody was granted it."""
        return max(self.holders, key=lambda holder: holder.epoch, default=None)

    @property
    def state(self) -> str:
        """``held``, ``gated`` or ``draining``, of its owner or last holder.

        Where no assignment names it, ``unassigned`` if somebody should have it, else ``unshared``.
        """
        if self.hold is not None:
            return self.hold.state
        return "unassigned" if self.ownerless else "unshared"

    @property
    def owner(self) -> MemberKey | None:
        """Its present or next owner; None: nobody."""
        return None if self.hold is None else self.hold.owner

    @property
    def owner_since_ms(self) -> int | None:
        """Since when its owner has been granted it without another in between.

        None: it has no owner, or the log does not say.
        """
        if self.owner is None or self.newest_grant is None:
            return None
        return self.newest_grant.since_ms

    @property
    def shared_unsafely(self) -> bool:
        """Whether somebody who was not waited for may still be working on it."""
        return self.unsafe and bool(self.draining)

    @property
    def in_handover(self) -> bool:
        """Whether it has no owner that may work on it, and somebody gives it up or waits."""
        return self.state in ("draining", "gated")

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        newest, place = self.newest, self.place
        return {
            "queue": [*self.queue],
            "state": self.state,
            "owner": None if self.owner is None else self.owner.client_id,
            "owner_since_ms": self.owner_since_ms,
            "decided_at": None
            if self.newest_grant is None
            else self.newest_grant.decision.to_json(),
            "held": [each.to_json() for each in self.held],
            "draining": [each.to_json() for each in self.draining],
            "gated": [each.to_json() for each in self.gated],
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
            "unsafe": self.unsafe,
        }


def queue_standings(
    live: LiveGroup,
    now_ms: int,
    places: Mapping[MessageQueue, QueuePosition],
) -> tuple[QueueStanding, ...]:
    """Return every queue that is shared or held, or in which the group has a position.

    Args:
        live: the group.
        now_ms: until when messages wait.
        places: where the data cluster says the group is; it knows best.
    """
    owners, readable = live.planned.owners, frozenset(live.planned.queues)
    shares = _holders(live)
    ownerless = frozenset(live.observed.standing().ownerless())
    measured = live.observed.positions
    seen = frozenset().union(readable, shares, places, measured.queues)
    standings = []
    for queue in sorted(seen, key=queue_order):
        place = places.get(queue)
        if place is None:
            place = measured.place(queue, now_ms)
        held = shares.get(queue, {})
        of_queue = {word: tuple(held.get(word, ())) for word in ("held", "draining", "gated")}
        newest = max((one.epoch for each in of_queue.values() for one in each), default=NOTHING)
        granted = live.observed.decided.grant(queue, newest)
        hold = live.observed.ownership.queues.get(queue)
        newest_grant = live.observed.decided.newest_grants.get(queue)
        measure = measured.queues.get(queue)
        standings.append(
            QueueStanding(
                queue,
                of_queue["held"],
                of_queue["draining"],
                of_queue["gated"],
                _target(live, of_queue, owners.get(queue)),
                place,
                hold,
                newest_grant
                if hold is not None and newest_grant and newest_grant.epoch == hold.epoch
                else None,
                None if measure is None else measure.idle_ms,
                readable=queue in readable,
                ownerless=queue in ownerless,
                unsafe=granted is not None and granted.unsafe,
            )
        )
    return tuple(standings)


def _target(
    live: LiveGroup, of_queue: Mapping[str, tuple[GrantHolder, ...]], owner: str | None
) -> str | None:
    """Return the future owner of a queue; in a paused group the present one, or the next."""
    if not live.core.rules.pause:
        return owner
    holders = of_queue["gated"] or of_queue["held"]
    return holders[0].member.client_id if holders else None


def _holders(live: LiveGroup) -> dict[MessageQueue, dict[ShareState, list[GrantHolder]]]:
    holders: dict[MessageQueue, dict[ShareState, list[GrantHolder]]] = {}
    for queue, shares in live.observed.shares().items():
        for share in shares:
            since_ms = live.observed.since_ms(queue, share)
            alive = share.member in live.core.state.members
            holder = GrantHolder(share.member, share.epoch, since_ms, alive, share.waits_for)
            holders.setdefault(queue, {}).setdefault(share.state, []).append(holder)
    return holders
