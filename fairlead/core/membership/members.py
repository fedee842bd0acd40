"""Who is a member of a group: heartbeats and lapses (ADR 0107).

Decides membership alone, never ownership. A member is one incarnation of one client id. A lapse
follows from the shard's clock, which cannot run ahead of what was read (rule H9). Each heartbeat
counts with the clock at its own record, even if it has no other effect (rule H10).
"""

from collections.abc import Sequence
from dataclasses import replace

from fairlead.core.draft import Draft
from fairlead.core.handover.chain import lapse
from fairlead.core.handover.resolution import apply_resolution
from fairlead.core.membership.broker_locks import free_locks
from fairlead.core.membership.rebalance_delay import note_change
from fairlead.core.membership.restart_grace import await_return, end_wait
from fairlead.core.membership.subscriptions import newest_subscriptions
from fairlead.core.membership.surplus import surplus_of_beat
from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.ordering import java_order
from fairlead.core.outputs import Cause, Gone, Notice
from fairlead.core.records import Arrival, Heartbeat
from fairlead.core.state import GroupState, Liveness, Member, Spoken, Tombstone

__all__ = [
    "DECISION_ASKED",
    "DUPLICATE_CLIENT_ID",
    "absent_members",
    "apply_heartbeat",
    "effective_members",
    "forget_leavers",
    "has_duplicates",
    "holders",
    "lapse_members",
    "may_concern_shares",
    "notice_to",
    "notify_duplicates",
    "shared_topics",
    "sharing_members",
    "subscribed_topics",
]

DECISION_ASKED = "decision_asked"
"""The cause of a decision that a member asked for."""

DUPLICATE_CLIENT_ID = "duplicate_client_id"
"""The notice and the alarm that two processes use one client id."""


def effective_members(members: dict[MemberKey, Member]) -> dict[str, Member]:
    """Return, for each client id, the one member that may be a target.

    Of two processes the greater (start, uuid) wins, within one process the newest incarnation. The
    order in which they were seen never counts: after a loss it may be another (rule H12).
    """
    best: dict[str, Member] = {}
    for member in members.values():
        if member.leaving:
            continue
        rival = best.get(member.key.client_id)
        if rival is None or _rank(member) > _rank(rival):
            best[member.key.client_id] = member
    return best


def sharing_members(state: GroupState) -> dict[str, Member]:
    """Return the effective members that share queues, by client id.

    Broadcasting members read every queue by themselves, and own none.
    """
    members = effective_members(state.members)
    return {client_id: member for client_id, member in members.items() if member.shares}


def subscribed_topics(state: GroupState) -> list[str]:
    """Return the topics that some effective member subscribes to, sorted as RocketMQ sorts them.

    A client whose return is awaited counts: the group keeps the positions of its queues.
    """
    return _topics({**absent_members(state), **effective_members(state.members)})


def shared_topics(state: GroupState) -> list[str]:
    """Return the subscribed topics whose queues are shared: not what only broadcasters read."""
    return _topics({**absent_members(state), **sharing_members(state)})


def _topics(members: dict[str, Member]) -> list[str]:
    topics = {topic for member in members.values() for topic in member.topics}
    return sorted(topics, key=java_order)


def may_concern_shares(draft: Draft, member: Member) -> bool:
    """Tell whether shares may change when this member comes or goes.

    A broadcasting member changes nothing, unless another process has its client id.
    """
    key, members = member.key, draft.state.members
    return member.shares or any(
        other.client_id == key.client_id for other in members if other != key
    )


def absent_members(state: GroupState) -> dict[str, Member]:
    """Return the clients whose return is awaited, by client id, as members they were."""
    return {client_id: awaited.member for client_id, awaited in state.awaited.items()}


def _rank(member: Member) -> tuple[int, str, int, str]:
    process = member.process
    return (process.start_ms, process.uuid, member.incarnations, member.key.incarnation)


def apply_heartbeat(draft: Draft, arrival: Arrival, beat: Heartbeat) -> None:
    """Count a heartbeat for its member's lease, and update the member by what it says."""
    state, clock = draft.state, arrival.clock_ms
    stone = state.tombstones.get(beat.member)
    if stone is not None and clock <= stone.until_ms:
        _apply_beat_of_gone(draft, arrival, beat, stone)
        return
    known = state.liveness.get(beat.member)
    if known is not None and _changes_model(state, beat):
        draft.counts["heartbeat", "rejected"] += 1
        state.liveness[beat.member] = replace(known, seen_ms=max(known.seen_ms, clock))
        detail = "an incarnation keeps the message model of its first heartbeat"
        remedy = "stop all work, and begin a new incarnation with the other model"
        draft.reject(arrival, "unsupported_message_model", "message_model", (detail, remedy))
        return
    if known is not None and beat.sequence <= known.sequence:
        draft.counts["heartbeat", "duplicate"] += 1
        state.liveness[beat.member] = replace(known, seen_ms=max(known.seen_ms, clock))
        return
    surplus = surplus_of_beat(draft, beat, clock)
    if surplus is not None:
        draft.counts["heartbeat", "rejected"] += 1
        if known is not None:
            state.liveness[beat.member] = replace(known, seen_ms=max(known.seen_ms, clock))
        reason, field_path, *texts = surplus
        draft.reject(arrival, reason, field_path, (texts[0], texts[1]))
        return
    draft.counts["heartbeat", "applied"] += 1
    before = known or Liveness(clock, beat.sequence)
    state.liveness[beat.member] = replace(
        before, seen_ms=max(before.seen_ms, clock), sequence=beat.sequence
    )
    _take_over(draft, arrival, beat)
    if beat.decide and draft.asked is None and not state.members[beat.member].leaving:
        draft.asked = Cause(DECISION_ASKED, beat.member.client_id, at=arrival.source)


def _changes_model(state: GroupState, beat: Heartbeat) -> bool:
    """Tell whether a member's heartbeat says another message model than its first one.

    Nobody could tell what it holds then: a broadcasting member acknowledges nothing.
    """
    return state.members[beat.member].profile.message_model != beat.profile.message_model


def _apply_beat_of_gone(draft: Draft, arrival: Arrival, beat: Heartbeat, stone: Tombstone) -> None:
    draft.counts["heartbeat", "stale"] += 1
    if not stone.lapsed or stone.notified:
        return
    draft.state.tombstones[beat.member] = replace(stone, notified=True)
    message = "the lease of this incarnation has ended: stop all work and start a new one"
    draft.notices.append(notice_to(draft, beat.member, "lapsed", message))
    draft.because("client_expired", client_id=beat.member.client_id, at=arrival.source)


def _take_over(draft: Draft, arrival: Arrival, beat: Heartbeat) -> None:
    state = draft.state
    member = state.members.get(beat.member)
    if member is None:
        if draft.client_ids is None:
            draft.client_ids = {key.client_id for key in state.members}
        others = beat.member.client_id in draft.client_ids
        draft.client_ids.add(beat.member.client_id)
        member = Member(
            beat.member,
            beat.process,
            beat.incarnations,
            beat.profile,
            beat.subscriptions,
            joined_ms=arrival.clock_ms,
        )
        state.members[beat.member] = member
        kind = "client_replaced" if others else "client_joined"
        draft.because(kind, client_id=beat.member.client_id, at=arrival.source)
        draft.to_assign.add(beat.member)
        concerned = beat.member.client_id in state.awaited or may_concern_shares(draft, member)
        if not end_wait(draft, member, arrival.clock_ms) and concerned:
            note_change(draft, kind, arrival.clock_ms)
        return
    if member.leaving:
        return
    subscriptions = newest_subscriptions(draft, member, beat)
    if member.subscriptions == subscriptions and member.profile == beat.profile:
        return
    if member.subscriptions != subscriptions or _weighs(member, beat):
        draft.because("subscription_changed", client_id=beat.member.client_id, at=arrival.source)
        if member.shares:
            note_change(draft, "subscription_changed", arrival.clock_ms)
    draft.update_member(member, profile=beat.profile, subscriptions=subscriptions)


def _weighs(member: Member, beat: Heartbeat) -> bool:
    old, new = member.profile, beat.profile
    weights = (old.zone, old.capacity) != (new.zone, new.capacity)
    return weights or (old.data_plane, old.follows) != (new.data_plane, new.follows)


def lapse_members(draft: Draft) -> None:
    """End the members whose newest heartbeat is older than lease + margin on the shard's clock.

    A member with a longer lease than its group's rule has that longer lease.
    """
    state = draft.state
    dead = [key for key in sorted(state.members) if _lapsed(draft, key)]
    held = _held(state, dead)
    for key in dead:
        member, seen_ms = state.members[key], state.liveness[key].seen_ms
        for queue in held[key]:
            ended = lapse(state.queues[queue], key)
            if ended is not None:
                apply_resolution(draft, queue, ended)
        free_locks(draft, member, held[key])
        _bury(draft, key, lapsed=True)
        draft.counts["member", "lapsed"] += 1
        if member.leaving:
            # Its leave has decided already who gets its queues.
            continue
        draft.because("client_expired", client_id=key.client_id)
        concerned = may_concern_shares(draft, member)
        if not await_return(draft, member, seen_ms) and concerned:
            note_change(draft, "client_expired", seen_ms + _patience_ms(draft, member) + 1)


def _lapsed(draft: Draft, key: MemberKey) -> bool:
    silent_ms = draft.moment.clock_ms - draft.state.liveness[key].seen_ms
    return silent_ms > _patience_ms(draft, draft.state.members[key])


def _patience_ms(draft: Draft, member: Member) -> int:
    return max(draft.rules.lease_ms, member.profile.lease_ms) + draft.rules.margin_ms


def _held(state: GroupState, members: Sequence[MemberKey]) -> dict[MemberKey, list[MessageQueue]]:
    """Return the queues in which each member has a grant, in order."""
    held: dict[MemberKey, list[MessageQueue]] = {key: [] for key in members}
    for queue in sorted(state.queues) if held else ():
        value = state.queues[queue]
        for member in dict.fromkeys(grant.member for grant in value.grants):
            if member in held:
                held[member].append(queue)
    return held


def holders(state: GroupState) -> set[MemberKey]:
    """Return the members with an unresolved grant."""
    return {grant.member for value in state.queues.values() for grant in value.grants}


def forget_leavers(draft: Draft) -> None:
    """Forget the members that left and have no unresolved grant."""
    leavers = [key for key, member in draft.state.members.items() if member.leaving]
    if not leavers:
        return
    holding = holders(draft.state)
    for key in sorted(leavers):
        if key not in holding:
            _bury(draft, key, lapsed=False)


def _bury(draft: Draft, key: MemberKey, *, lapsed: bool) -> None:
    state = draft.state
    member = state.members.pop(key)
    state.liveness.pop(key)
    state.claims.pop(key, None)
    until = draft.moment.clock_ms + 2 * _patience_ms(draft, member)
    # By the newest record that was read: the member's own last words are no younger.
    spoken = None if lapsed else Spoken(draft.moment.clock_ms, draft.moment.append_ms)
    state.tombstones[key] = Tombstone(until, lapsed, spoken=spoken)
    plane = member.profile.data_plane
    if state.standing is not None and plane is not None:
        # The data plane may list it for a while: it is nobody unknown.
        state.standing = replace(state.standing, gone={**state.standing.gone, plane.member: until})
    draft.to_assign.discard(key)
    draft.drops.pop(key, None)
    draft.adds.pop(key, None)
    notified = member.told_duplicate or member.told_rival
    notified = notified or bool(member.told_odd or member.told_waiting)
    draft.gone.append(Gone(draft.state.group, key, member.parts, notice=notified))


def notify_duplicates(draft: Draft) -> None:
    """Notify two processes with one client id of each other, once each, and raise the alarm.

    This waits until both have sent another heartbeat after both had come: a process that replaces
    a dead one is no duplicate, and nobody stops for one that dies as it starts (rule H12).
    """
    members = draft.state.members
    if len({key.client_id for key in members}) == len(members):
        return
    winners = effective_members(members)
    for key in sorted(members):
        member, winner = members[key], winners.get(key.client_id)
        if winner is None or member.leaving or member.told_duplicate:
            continue
        if member.process < winner.process and _heard_beside(draft.state, member, winner):
            draft.alarms.add(DUPLICATE_CLIENT_ID)
            _tell_of_winner(draft, key, winner, _TO_THE_OTHER)
            draft.update_member(member, told_duplicate=True)
            rival = members[winner.key]
            if not rival.told_rival:
                _tell_of_winner(draft, winner.key, winner, _TO_THE_WINNER)
                draft.update_member(rival, told_rival=True)


_TO_THE_OTHER = "another process uses this client id: give each process its own"
_TO_THE_WINNER = "another process uses this client id and has to stop: give each process its own"


def _heard_beside(state: GroupState, one: Member, other: Member) -> bool:
    """Tell whether each of two members sent another heartbeat after both had come."""
    both_came_ms = max(one.joined_ms, other.joined_ms)
    return all(state.liveness[each.key].seen_ms > both_came_ms for each in (one, other))


def _tell_of_winner(draft: Draft, key: MemberKey, winner: Member, message: str) -> None:
    notice = notice_to(draft, key, DUPLICATE_CLIENT_ID, message)
    draft.notices.append(replace(notice, winner=winner.process))


def has_duplicates(members: dict[MemberKey, Member]) -> bool:
    """Tell whether a process that a notice told of a greater one is still there."""
    losers = [one for one in members.values() if one.told_duplicate and not one.leaving]
    winners = effective_members(members) if losers else {}
    return any(member.process < winners[member.key.client_id].process for member in losers)


def notice_to(draft: Draft, member: MemberKey, code: str, message: str) -> Notice:
    """Return a notice to a member that names no winner."""
    return Notice(
        draft.state.group,
        member,
        draft.engine.generation,
        code,
        message,
        None,
        draft.moment.append_ms,
    )
