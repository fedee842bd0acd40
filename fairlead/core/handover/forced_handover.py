"""Handing over without waiting: in eager groups, and past members that do not answer (ADR 0101).

Decides whose grants are overtaken, never who should own a queue. It is the one exemption from
single ownership: a member that may still be working stands in the queue's ``overtaken`` until it
releases, acknowledges or lapses, and every grant meanwhile is marked unsafe (rule H26).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fairlead.core.draft import HANDOVER, Draft
from fairlead.core.handover.chain import Aimed, aim, credit, overtake
from fairlead.core.model import NOTHING, MemberKey, MessageQueue
from fairlead.core.records import Claim, Claims
from fairlead.core.state import ClaimSet, Grant, GroupState, QueueState
from fairlead.core.topics.topic_identity import is_of_another_identity

__all__ = [
    "MUTE_MEMBER",
    "aim_past",
    "any_mute",
    "has_ordered",
    "is_eager",
    "mark_mute_members",
    "may_be_forced",
    "queues_passed_without",
    "settle_late_claims",
    "unknown_grants",
]

MUTE_MEMBER = "mute_member"
"""The alarm, and the cause, that a member heartbeats and does not answer a drop."""


def is_eager(draft: Draft) -> bool:
    """Tell whether the group grants queues without waiting for their holders.

    It never does beside an ordered member, for which nobody may work at the same time.
    """
    return draft.rules.mode == "eager" and not has_ordered(draft.state)


def has_ordered(state: GroupState) -> bool:
    """Tell whether any member that shares queues wants its messages in order."""
    return any(member.shares and member.profile.ordered for member in state.members.values())


def aim_past(draft: Draft, queue: QueueState, target: MemberKey | None) -> Aimed:
    """Aim a queue as :func:`fairlead.core.handover.chain.aim` does, but wait for nobody."""
    epoch, clock_ms = draft.next_epoch(), draft.moment.clock_ms
    first = aim(queue, target, epoch, 1, clock_ms)
    if first.add is not None or target is None or first.queue.base is None:
        return first
    past = overtake(first.queue, lambda _: True)
    if past is None:
        return first
    then = aim(past.queue, target, epoch, 1, clock_ms)
    return Aimed(then.queue, first.drop, then.add or past.granted)


def mark_mute_members(draft: Draft) -> None:
    """Mark members that heartbeat and have not answered a drop in time; overtake them if ruled so.

    A member that heartbeats has read the drop within a part of its lease, stops within the drain
    deadline, and repeats its release until it is appended or its lease ends. So one that is silent
    for the deadline and a lease more will not answer by itself.
    """
    overdue = {
        queue: late
        for queue, value in draft.state.queues.items()
        if value.chain
        and value.chain[0].dropped
        and (late := [grant for grant in value.chain if _is_overdue(draft, grant)])
    }
    for queue in sorted(overdue):
        fresh = [grant for grant in overdue[queue] if not grant.mute]
        for grant in fresh:
            draft.alarms.add(MUTE_MEMBER)
            draft.because(MUTE_MEMBER, client_id=grant.member.client_id)
            draft.counts["member", "mute"] += 1
        value = draft.state.queues[queue]
        chain = tuple(
            replace(grant, mute=True) if grant in fresh else grant for grant in value.chain
        )
        draft.set_queue(queue, replace(value, chain=chain))
        _force(draft, queue)


def _is_overdue(draft: Draft, grant: Grant) -> bool:
    deadline_ms = draft.rules.drain_deadline_ms
    if not grant.dropped or grant.dropped_ms is None or deadline_ms is None:
        return False
    member = draft.state.members[grant.member]
    lease_ms = max(draft.rules.lease_ms, member.profile.lease_ms)
    return draft.moment.clock_ms - grant.dropped_ms > deadline_ms + lease_ms


def _force(draft: Draft, queue: MessageQueue) -> None:
    value = draft.state.queues[queue]
    ended = overtake(value, lambda grant: grant.mute and may_be_forced(draft, grant.member))
    if ended is None:
        return
    draft.set_queue(queue, ended.queue)
    draft.because(MUTE_MEMBER, client_id=value.chain[0].member.client_id)
    draft.counts[HANDOVER, "overtaken"] += 1
    if ended.granted is not None:
        draft.shortened[queue] = None


def may_be_forced(draft: Draft, member: MemberKey) -> bool:
    """Tell whether a rule takes queues from a mute member (rules H26 and H27).

    It never takes them from an ordered one, which has no drain deadline: it may be mute or slow.
    """
    return draft.rules.on_mute == "force" and not draft.state.members[member].profile.ordered


def any_mute(state: GroupState) -> bool:
    """Tell whether some grant's member is known to be mute."""
    return any(
        grant.mute
        for value in state.queues.values()
        if value.overtaken or (value.chain and value.chain[0].dropped)
        for grant in value.grants
    )


def queues_passed_without(state: GroupState, claims: Claims) -> list[MessageQueue]:
    """Return the queues of this member that a barrier has passed without its acknowledgement."""
    return [
        queue
        for queue, value in state.queues.items()
        if any(_is_older(grant, claims) for grant in value.overtaken)
    ]


def settle_late_claims(draft: Draft, claims: Claims, queues: Sequence[MessageQueue]) -> None:
    """Apply the late acknowledgement of a member that a barrier has not waited for.

    The member never starts what it does not claim, for it refuses commands of older generations.
    What it runs, the engine knows from now on, and drops.
    """
    state, member = draft.state, claims.member
    held = state.claims.get(member)
    if held is None or (held.generation, held.parts) != (claims.generation, claims.parts):
        held = ClaimSet(claims.generation, claims.parts, {})
    held = replace(held, read={**held.read, claims.part: claims.queues})
    if not held.complete:
        state.claims[member] = held
        return
    state.claims.pop(member, None)
    claimed = {claim.queue: claim for part in sorted(held.read) for claim in held.read[part]}
    for queue in sorted(queues):
        _settle_queue(draft, queue, claims, claimed.get(queue))


def _settle_queue(draft: Draft, queue: MessageQueue, acked: Claims, claim: Claim | None) -> None:
    value = draft.state.queues[queue]
    over = tuple(grant for grant in value.overtaken if _is_older(grant, acked))
    left = tuple(grant for grant in value.overtaken if grant not in over)
    if claim is not None and not is_of_another_identity(draft.state, queue, claim.identity):
        value = credit(value, claim.epoch, claim.position, "progress")
    # A grant of this generation stands in the chain already, and is not late.
    if claim is not None and claim.running and claim.epoch.generation < acked.generation:
        late = Grant(
            acked.member,
            claim.epoch,
            dropped=True,
            dropped_ms=draft.moment.clock_ms,
            mute=True,
        )
        left = (*left, late)
        draft.new_epoch()
        draft.command_drop(queue, late)
    draft.set_queue(queue, replace(value, overtaken=left))
    draft.resolved(queue, [grant for grant in over if grant.epoch != NOTHING], value.base)


def _is_older(grant: Grant, acked: Claims) -> bool:
    return grant.member == acked.member and grant.epoch.generation < acked.generation


def unknown_grants(members: Iterable[MemberKey], clock_ms: int) -> tuple[Grant, ...]:
    """Return stand-ins for members that may or may not work on a queue."""
    return tuple(
        Grant(member, NOTHING, dropped=True, dropped_ms=clock_ms, mute=True) for member in members
    )
