"""Images of the engine's group state, without times.

Time does not pass in the searched worlds. So all times, counters and texts for people are set to
one value and left out of the image; a lapse puts one member's last heartbeat into the far past. Two
groups with the same image decide alike on every record.
"""

from dataclasses import fields, replace
from typing import Any

from fairlead.core.model import MemberKey
from fairlead.core.state import Grant, GroupState, Liveness, QueueState, Tombstone
from fairlead_proof.explorer.frozen import Images, frozen

__all__ = ["SAME_IN_ALL", "SETTLED", "aged", "doubted", "heard", "image", "overdue", "settled"]

LONG_AGO_MS = -(10**12)
FAR_MS = 10**12

SETTLED: dict[str, Any] = {
    "created_ms": 0,
    "recomputed_ms": 0,
    "empty_since_ms": None,
    "requests": {},
    "measures": {},
    "weights": {},
    "growing_since_ms": None,
}
"""Fields of a group's state that only hold times, and their one value."""

SAME_IN_ALL = frozenset({"group", "routes", "liveness"})
"""Fields that are the same in all states, or follow from the members without times."""

_ALIVE = Liveness(0, 1)
_BURIED = Tombstone(FAR_MS, lapsed=True, notified=True)

_KEPT = tuple(
    each.name for each in fields(GroupState) if each.name not in SAME_IN_ALL | SETTLED.keys()
)
_WITHOUT = frozenset({"why"})
"""The reason of a start is for people."""


def settled(state: GroupState) -> GroupState:
    """Return the state with every time at one value, and without texts for people."""
    barrier = state.barrier
    if barrier is not None:
        marked = None if barrier.marked_ms is None else 0
        barrier = replace(barrier, started_ms=0, marked_ms=marked, mute_told=False)
    return replace(
        state,
        **SETTLED,
        queues={queue: _undated(value) for queue, value in state.queues.items()},
        liveness=dict.fromkeys(state.members, _ALIVE),
        tombstones=dict.fromkeys(state.tombstones, _BURIED),
        barrier=barrier,
    )


def aged(state: GroupState, member: MemberKey) -> GroupState:
    """Return the state with a member's last heartbeat in the far past."""
    liveness = {**state.liveness, member: Liveness(LONG_AGO_MS, 1)}
    return replace(state, liveness=liveness)


def _undated(value: QueueState) -> QueueState:
    """Return a queue without the times of its overdue drops."""
    late = [*value.chain, *value.overtaken]
    if not any(grant.dropped_ms == LONG_AGO_MS for grant in late):
        return value
    chain, overtaken = (
        tuple(
            replace(grant, dropped_ms=0) if grant.dropped_ms == LONG_AGO_MS else grant
            for grant in grants
        )
        for grants in (value.chain, value.overtaken)
    )
    return replace(value, chain=chain, overtaken=overtaken)


def doubted(state: GroupState, member: MemberKey) -> GroupState:
    """Return the state with a member whose digest has differed for long."""
    differing = Liveness(0, 1, disagrees_since_ms=LONG_AGO_MS, healed_ms=LONG_AGO_MS)
    liveness = {**state.liveness, member: differing}
    return replace(state, liveness=liveness)


def overdue(state: GroupState, member: MemberKey) -> GroupState | None:
    """Return the state with overdue drops of a member.

    None: the member has answered all drops, or the engine knows that it is mute.
    """
    late = {
        queue: replace(value, chain=tuple(_overdue(grant, member) for grant in value.chain))
        for queue, value in state.queues.items()
        if any(_is_unanswered(grant, member) for grant in value.chain)
    }
    return replace(state, queues={**state.queues, **late}) if late else None


def _is_unanswered(grant: Grant, member: MemberKey) -> bool:
    return grant.member == member and grant.dropped and not grant.mute


def _overdue(grant: Grant, member: MemberKey) -> Grant:
    return replace(grant, dropped_ms=LONG_AGO_MS) if _is_unanswered(grant, member) else grant


def heard(state: GroupState, clock_ms: int) -> GroupState:
    """Return the state with a heartbeat of every member at this moment."""
    return replace(state, liveness={key: Liveness(clock_ms, 1) for key in state.members})


def image(state: GroupState, known: Images | None = None) -> Any:
    """Return a settled state as a hashable value; ``known`` are images of parts of others."""
    return tuple([frozen(getattr(state, name), _WITHOUT, known) for name in _KEPT])
