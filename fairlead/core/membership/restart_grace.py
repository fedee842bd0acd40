"""Clients that are gone and may come back: the group keeps their share for a while (ADR 0106).

Decides for which clients a group waits, and until when (the rule ``restart_grace_ms``, rules H21
and H22). The strategy sees an awaited client as if it were there, so nobody else's queues move;
nobody holds its own. Only the client id counts: a client that returns is another incarnation, and
holds nothing until it gets a grant.
"""

from fairlead.core.draft import Draft
from fairlead.core.membership.rebalance_delay import note_change
from fairlead.core.model import MemberProfile
from fairlead.core.state import Awaited, Member

__all__ = ["NOT_RETURNED", "await_return", "end_restart_grace", "end_wait"]

NOT_RETURNED = "not_returned"
"""The alarm that a client did not return in time: others get its queues."""


def await_return(draft: Draft, member: Member, since_ms: int) -> bool:
    """Keep the share of a client that is gone since a clock, if a rule says so; tell whether."""
    state, client_id = draft.state, member.key.client_id
    if not member.shares or since_ms + draft.rules.restart_grace_ms <= draft.moment.clock_ms:
        return False
    if state.standing is not None and state.standing.is_theirs:
        # It has no share of the engine's.
        return False
    if any(
        key.client_id == client_id and not other.leaving
        for key, other in state.members.items()
        if key != member.key
    ):
        # Another process or incarnation has the client id: nobody is missing.
        return False
    state.awaited[client_id] = Awaited(member, since_ms)
    draft.counts["member", "awaited"] += 1
    return True


def end_wait(draft: Draft, member: Member, clock_ms: int) -> bool:
    """End the wait for a client id that sends heartbeats again.

    Tell whether shares stay as they are: it returns in time, and asks for the same as before.
    """
    awaited = draft.state.awaited.pop(member.key.client_id, None)
    if awaited is None or clock_ms >= awaited.since_ms + draft.rules.restart_grace_ms:
        return False
    draft.counts["member", "returned"] += 1
    before = awaited.member
    same_topics = before.topics == member.topics
    return member.shares and same_topics and _weight(before.profile) == _weight(member.profile)


def _weight(profile: MemberProfile) -> tuple[str | None, int]:
    return profile.zone, profile.capacity


def end_restart_grace(draft: Draft) -> None:
    """End the waits that are over; an operator may have shortened them."""
    state, grace_ms = draft.state, draft.rules.restart_grace_ms
    if not state.awaited:
        return
    for client_id, awaited in sorted(state.awaited.items()):
        until_ms = awaited.since_ms + grace_ms
        if draft.moment.clock_ms < until_ms:
            continue
        del state.awaited[client_id]
        draft.counts["member", "not_returned"] += 1
        if grace_ms and client_id in state.targets.values():
            draft.alarms.add(NOT_RETURNED)
        draft.because("grace_over", client_id=client_id)
        note_change(draft, "grace_over", until_ms)
