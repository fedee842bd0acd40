"""Who is a member of a group: heartbeats, leaves and lapses.

Decides membership alone, never ownership. A member is one incarnation of one client id. A lapse
follows from the shard's clock, which cannot run ahead of what was read (rule H9); each heartbeat
counts with the clock at its own record, also one that has no other effect (rule H10).
"""

from collections.abc import Sequence
from dataclasses import replace

from fairlead.core.draft import Draft
from fairlead.core.handover import lapse
from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.ordering import java_order
from fairlead.core.outputs import Gone, Notice
from fairlead.core.records import Arrival, Heartbeat, Leave
from fairlead.core.state import GroupState, Liveness, Member, Tombstone

__all__ = [
    "apply_heartbeat",
    "apply_leave",
    "bury_leavers",
    "effective_members",
    "lapse_members",
    "subscribed_topics",
    "tell_duplicates",
]


def effective_members(members: dict[MemberKey, Member]) -> dict[str, Member]:
    """Return, for each client id, the one member that is a target.

    Of two processes the greater (start, uuid) wins, within one process the newest incarnation:
    never the first or last seen, which would be learnt in another order after a loss (rule H12).
    """
    best: dict[str, Member] = {}
    for member in members.values():
        if member.leaving:
            continue
        rival = best.get(member.key.client_id)
        if rival is None or _rank(member) > _rank(rival):
            best[member.key.client_id] = member
    return best


def subscribed_topics(state: GroupState) -> list[str]:
    """Return the topics that some target member subscribes to, sorted as RocketMQ sorts them."""
    members = effective_members(state.members).values()
    return sorted({topic for member in members for topic in member.topics}, key=java_order)


def _rank(member: Member) -> tuple[int, str, int, str]:
    process = member.process
    return (process.start_ms, process.uuid, member.incarnations, member.key.incarnation)


def apply_heartbeat(draft: Draft, arrival: Arrival, beat: Heartbeat) -> None:
    """Count a heartbeat for its member's lease, and take over what it says of the member."""
    state, clock = draft.state, arrival.clock_ms
    stone = state.tombstones.get(beat.member)
    if stone is not None and clock <= stone.until_ms:
        _beat_of_the_gone(draft, arrival, beat, stone)
        return
    known = state.liveness.get(beat.member)
    if beat.profile.message_model != "clustering":
        draft.counts["heartbeat", "rejected"] += 1
        if known is not None:
            state.liveness[beat.member] = replace(known, seen_ms=max(known.seen_ms, clock))
        draft.reject(
            arrival,
            "unsupported_message_model",
            "message_model",
            ("this engine shares queues in the clustering model only", "send clustering"),
        )
        return
    if known is not None and beat.sequence <= known.sequence:
        draft.counts["heartbeat", "duplicate"] += 1
        state.liveness[beat.member] = replace(known, seen_ms=max(known.seen_ms, clock))
        return
    draft.counts["heartbeat", "applied"] += 1
    before = known or Liveness(clock, beat.sequence)
    state.liveness[beat.member] = replace(
        before, seen_ms=max(before.seen_ms, clock), sequence=beat.sequence
    )
    _take_over(draft, arrival, beat)


def _beat_of_the_gone(draft: Draft, arrival: Arrival, beat: Heartbeat, stone: Tombstone) -> None:
    draft.counts["heartbeat", "stale"] += 1
    if not stone.lapsed or stone.told:
        return
    draft.state.tombstones[beat.member] = replace(stone, told=True)
    message = "this incarnation was taken for dead: stop all work and start a new one"
    draft.notices.append(_notice(draft, beat.member, "lapsed", message))
    draft.because("client_expired", client_id=beat.member.client_id, at=arrival.source)


def _take_over(draft: Draft, arrival: Arrival, beat: Heartbeat) -> None:
    state = draft.state
    member = state.members.get(beat.member)
    if member is None:
        if draft.client_ids is None:
            draft.client_ids = {key.client_id for key in state.members}
        others = beat.member.client_id in draft.client_ids
        draft.client_ids.add(beat.member.client_id)
        state.members[beat.member] = Member(
            beat.member, beat.process, beat.incarnations, beat.profile, beat.subscriptions
        )
        kind = "client_replaced" if others else "client_joined"
        draft.because(kind, client_id=beat.member.client_id, at=arrival.source)
        draft.tell.add(beat.member)
        draft.dirty = True
        return
    if member.leaving or (
        member.subscriptions == beat.subscriptions and member.profile == beat.profile
    ):
        return
    if member.subscriptions != beat.subscriptions or _weighs(member, beat):
        draft.because("subscription_changed", client_id=beat.member.client_id, at=arrival.source)
        draft.dirty = True
    draft.update_member(member, profile=beat.profile, subscriptions=beat.subscriptions)


def _weighs(member: Member, beat: Heartbeat) -> bool:
    old, new = member.profile, beat.profile
    return (old.zone, old.capacity) != (new.zone, new.capacity)


def apply_leave(draft: Draft, arrival: Arrival, leave: Leave) -> None:
    """Take a member out of the targets.

    Its grants end by their releases or by its lapse (rule H11).
    """
    member = draft.state.members.get(leave.member)
    if member is None or member.leaving:
        draft.counts["leave", "stale" if member is None else "duplicate"] += 1
        return
    draft.counts["leave", "applied"] += 1
    draft.update_member(member, leaving=True)
    draft.because("client_left", client_id=leave.member.client_id, at=arrival.source)
    draft.dirty = True


def lapse_members(draft: Draft) -> None:
    """Take those for dead whose newest heartbeat is older than lease + margin on the shard's clock.

    A member that keeps a longer lease than its group's rule is waited for by its own.
    """
    state = draft.state
    dead = [key for key in sorted(state.members) if _lapsed(draft, key)]
    held = _held(state, dead)
    for key in dead:
        leaving = state.members[key].leaving
        for queue in held[key]:
            ended = lapse(state.queues[queue], key)
            if ended is None:
                continue
            draft.set_queue(queue, ended.queue)
            draft.resolved(queue, ended.grants, ended.queue.base)
            if ended.granted is not None and state.barrier is None:
                draft.shortened[queue] = None
        _bury(draft, key, lapsed=True)
        draft.counts["member", "lapsed"] += 1
        if not leaving:
            draft.because("client_expired", client_id=key.client_id)
        draft.dirty = True


def _lapsed(draft: Draft, key: MemberKey) -> bool:
    lease = max(draft.rules.lease_ms, draft.state.members[key].profile.lease_ms)
    silent_ms = draft.moment.clock_ms - draft.state.liveness[key].seen_ms
    return silent_ms > lease + draft.rules.margin_ms


def _held(state: GroupState, members: Sequence[MemberKey]) -> dict[MemberKey, list[MessageQueue]]:
    """Return the queues of which each member has a grant, in order; one look for all of them."""
    held: dict[MemberKey, list[MessageQueue]] = {key: [] for key in members}
    for queue in sorted(state.queues) if held else ():
        for member in dict.fromkeys(grant.member for grant in state.queues[queue].chain):
            if member in held:
                held[member].append(queue)
    return held


def bury_leavers(draft: Draft) -> None:
    """Forget the members that left and of which no grant is unresolved."""
    leavers = [key for key, member in draft.state.members.items() if member.leaving]
    if not leavers:
        return
    holding = {grant.member for value in draft.state.queues.values() for grant in value.chain}
    for key in sorted(leavers):
        if key not in holding:
            _bury(draft, key, lapsed=False)


def _bury(draft: Draft, key: MemberKey, *, lapsed: bool) -> None:
    state, rules = draft.state, draft.rules
    member = state.members.pop(key)
    state.liveness.pop(key)
    state.claims.pop(key, None)
    lease = max(rules.lease_ms, member.profile.lease_ms)
    until = draft.moment.clock_ms + 2 * (lease + rules.margin_ms)
    state.tombstones[key] = Tombstone(until, lapsed)
    draft.tell.discard(key)
    draft.drops.pop(key, None)
    draft.adds.pop(key, None)
    draft.gone.append(Gone(draft.state.group, key, member.parts, notice=member.told_duplicate))


def tell_duplicates(draft: Draft) -> None:
    """Tell each member whose client id a greater process uses, once, and raise the alarm."""
    winners = effective_members(draft.state.members)
    for key in sorted(draft.state.members):
        member = draft.state.members[key]
        winner = winners.get(key.client_id)
        if winner is None or member.process >= winner.process or member.told_duplicate:
            continue
        draft.alarms.add("duplicate_client_id")
        message = "another process uses this client id: give each process its own"
        notice = _notice(draft, key, "duplicate_client_id", message)
        draft.notices.append(replace(notice, winner=winner.process))
        draft.update_member(member, told_duplicate=True)


def _notice(draft: Draft, member: MemberKey, code: str, message: str) -> Notice:
    return Notice(
        draft.state.group,
        member,
        draft.engine.generation,
        code,
        message,
        None,
        draft.moment.append_ms,
    )
