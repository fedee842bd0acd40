"""Resync: whether the engine must write a member's assignment again.

A heartbeat carries a digest of what its member holds. If it differs from the engine's view for two
seconds, one side has lost a record, and the engine writes the member's whole assignment again, with
the original epochs (rule H17). All commands are idempotent, so a needless resync changes nothing.

A heartbeat also says up to which epoch its member has read. A member that has not read the newest
epoch may not have had the time: while a batch runs for seconds, every heartbeat is appended before
its decision. Such a member waits for longer than batches take.
"""

from dataclasses import replace

from fairlead.core.draft import HANDOVER, Draft
from fairlead.core.footing.standby_words import expected_state
from fairlead.core.model import NOTHING, MemberKey, MessageQueue
from fairlead.core.outputs import Add, Drop
from fairlead.core.publishing.digest import Entry, digest
from fairlead.core.records import Arrival, Heartbeat
from fairlead.core.state import GroupState, Liveness, QueueState

__all__ = ["HEAL_AFTER_MS", "compare_digests", "entries_by_member", "resend_assignments"]

HEAL_AFTER_MS = 2_000
"""How long a digest may differ: records on their way arrive within a few batches."""

HEAL_BEHIND_MS = 10_000
"""How long it may differ if the member has not read the newest epoch of its group."""

HEAL_BACK_OFF_MAX = 4
"""After so many resyncs in a row the wait no longer doubles."""


def entries_by_member(state: GroupState) -> dict[MemberKey, list[Entry]]:
    """Return what each member holds in the engine's view, as entries of the digest."""
    held: dict[MemberKey, list[Entry]] = {}
    for queue, value in state.queues.items():
        for index, grant in enumerate(value.chain):
            open_word = "gated" if index else "held"
            word = "draining" if grant.dropped else open_word
            held.setdefault(grant.member, []).append((queue, grant.epoch, word))
        for grant in value.overtaken:
            if grant.epoch != NOTHING:
                held.setdefault(grant.member, []).append((queue, grant.epoch, "draining"))
    return held


def compare_digests(draft: Draft, arrivals: list[tuple[Arrival, Heartbeat]]) -> list[MemberKey]:
    """Compare each heartbeat's digest, in order; return the members that need a resync."""
    state = draft.state
    if not arrivals:
        return []
    held = entries_by_member(state)
    expected: dict[MemberKey, int] = {}
    heal: dict[MemberKey, None] = {}
    for arrival, beat in arrivals:
        alive = state.liveness.get(beat.member)
        if alive is None or beat.sequence > alive.sequence:
            continue
        if beat.member not in expected:
            expected[beat.member] = digest(held.get(beat.member, ()))
        if beat.digest == expected[beat.member] and _stands_as_written(state, beat):
            if alive.disagrees_since_ms is not None:
                state.liveness[beat.member] = replace(
                    alive, disagrees_since_ms=None, heals=0, healed_ms=0
                )
            continue
        since = arrival.clock_ms if alive.disagrees_since_ms is None else alive.disagrees_since_ms
        behind = beat.applied is None or beat.applied < state.epoch
        if _is_due(alive, since, arrival.clock_ms, behind=behind):
            heal[beat.member] = None
            alive = replace(alive, heals=alive.heals + 1, healed_ms=arrival.clock_ms)
        state.liveness[beat.member] = replace(alive, disagrees_since_ms=since)
    return list(heal)


def _stands_as_written(state: GroupState, beat: Heartbeat) -> bool:
    """Tell whether a member does what the engine has written: it follows, is frozen, or works."""
    wanted = expected_state(state, beat.member)
    return wanted is None or beat.standby in (None, wanted)


def _is_due(alive: Liveness, since_ms: int, clock_ms: int, *, behind: bool) -> bool:
    waited = clock_ms - max(since_ms, alive.healed_ms)
    patience = HEAL_AFTER_MS << min(alive.heals, HEAL_BACK_OFF_MAX)
    return waited >= (max(patience, HEAL_BEHIND_MS) if behind else patience)


def resend_assignments(draft: Draft, members: list[MemberKey]) -> None:
    """Write all unresolved commands of these members again: drops, and adds of newest grants."""
    if draft.state.barrier is not None:
        return
    for key in members:
        if key not in draft.state.members:
            continue
        dropped = {drop.queue for drop in draft.drops.get(key, [])}
        added = {add.queue for add in draft.adds.get(key, [])}
        for queue in sorted(draft.state.queues):
            value = draft.state.queues[queue]
            drops, add = _commands_of(draft, queue, value, key)
            again = [drop for drop in drops if drop.queue not in dropped]
            draft.drops.setdefault(key, []).extend(again)
            draft.counts[HANDOVER, "told_again"] += len(again)
            if add is not None and add.queue not in added:
                draft.adds.setdefault(key, []).append(add)
        draft.to_assign.add(key)
        draft.because("healed", client_id=key.client_id)
        draft.counts["member", "healed"] += 1


def _commands_of(
    draft: Draft, queue: MessageQueue, value: QueueState, key: MemberKey
) -> tuple[list[Drop], Add | None]:
    newest = value.chain[-1] if value.chain else None
    waiting = None if newest is None or newest.dropped else newest.member.client_id
    drops = [
        Drop(queue, grant.epoch, waiting if grant in value.chain else None)
        for grant in value.grants
        if grant.member == key and grant.dropped and grant.epoch != NOTHING
    ]
    if newest is None or newest.member != key or newest.dropped:
        return drops, None
    return drops, draft.add_of(queue, newest, value)
