"""The light barrier that a group passes after each start of a driver.

Nobody can tell at a start whether the state is intact, older than what was written, or shared with
a driver that still runs. So nothing is granted until the driver's marker was read and each live
member has acknowledged the new generation, naming what it works on. Then what the members claim is
the truth: per queue the highest running claim is the chain, every other grant is void, and the base
is the greatest position anybody reported. Owners go on working all the while (rules H14, H15).
"""

from dataclasses import replace

from fairlead.core.draft import Draft
from fairlead.core.handover import credit
from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.core.records import Claim, Claims, Release
from fairlead.core.state import Barrier, ClaimSet, Grant, QueueState

__all__ = ["apply_claims", "enter_barrier", "pass_barrier", "remember_release"]


def enter_barrier(draft: Draft) -> None:
    """Start the barrier of the driver's generation.

    Anew if one of an older generation is still in progress.
    """
    state, generation = draft.state, draft.engine.generation
    if generation <= state.generation:
        return
    if state.barrier is not None and state.barrier.generation >= generation:
        return
    state.barrier = Barrier(generation, draft.moment.clock_ms)
    state.claims = {
        key: held for key, held in state.claims.items() if held.generation >= generation
    }
    draft.because("generation_started")


def apply_claims(draft: Draft, claims: Claims) -> None:
    """Take in one part of a member's acknowledgement.

    Acknowledgements of a generation that this group has passed only say so; those of a newer one
    are kept, since the driver that needs them may start from this state.
    """
    state = draft.state
    if claims.member not in state.members:
        draft.counts["claims", "stale"] += 1
        return
    if claims.generation <= state.generation:
        draft.counts["claims", "duplicate"] += 1
        return
    draft.counts["claims", "applied"] += 1
    held = state.claims.get(claims.member)
    if held is None or held.generation < claims.generation or held.parts != claims.parts:
        held = ClaimSet(claims.generation, claims.parts, {})
    elif held.generation > claims.generation:
        return
    state.claims[claims.member] = replace(held, read={**held.read, claims.part: claims.queues})


def remember_release(draft: Draft, release: Release) -> None:
    """Keep a release that is read while the barrier is in progress.

    A claim of the same grant may be read later.
    """
    barrier = draft.state.barrier
    if barrier is None or release.position is None:
        return
    key = (release.queue, release.member)
    fact = (release.epoch, release.position)
    newest = max(barrier.releases.get(key, fact), fact)
    draft.state.barrier = replace(barrier, releases={**barrier.releases, key: newest})


def pass_barrier(draft: Draft) -> None:
    """Mark the barrier, raise the alarm on a mute member, or end it.

    It ends when everybody who may be working has acknowledged.
    """
    state = draft.state
    barrier = state.barrier
    if barrier is None:
        return
    if barrier.marked_ms is None:
        if draft.moment.marker < barrier.generation:
            return
        barrier = replace(barrier, marked_ms=draft.moment.clock_ms)
        state.barrier = barrier
    waiting = _waited_for(draft, barrier.generation)
    if waiting:
        _alarm_if_mute(draft, barrier)
        return
    _adopt(draft, barrier)
    state.generation = barrier.generation
    state.barrier = None
    state.claims = {
        key: held for key, held in state.claims.items() if held.generation > barrier.generation
    }
    draft.because("generation_passed")
    draft.dirty = True


def _waited_for(draft: Draft, generation: int) -> list[MemberKey]:
    state = draft.state
    holding = {grant.member for value in state.queues.values() for grant in value.chain}
    waiting = []
    for key, member in state.members.items():
        held = state.claims.get(key)
        if held is not None and held.generation >= generation and held.complete:
            continue
        if member.leaving and key not in holding:
            continue
        waiting.append(key)
    return waiting


def _alarm_if_mute(draft: Draft, barrier: Barrier) -> None:
    if barrier.mute_told:
        return
    # Counted from the start, which is in the audit record: a replay raises it at the same place.
    if draft.moment.clock_ms - barrier.started_ms > draft.rules.drain_deadline_ms:
        draft.alarms.add("barrier_mute")
        draft.state.barrier = replace(barrier, mute_told=True)


def _adopt(draft: Draft, barrier: Barrier) -> None:
    claimed: dict[MessageQueue, list[tuple[MemberKey, Claim]]] = {}
    for key in sorted(draft.state.members):
        held = draft.state.claims.get(key)
        if held is None:
            continue
        for part in sorted(held.read):
            for claim in held.read[part]:
                claimed.setdefault(claim.queue, []).append((key, claim))
    facts: dict[MessageQueue, _Facts] = {}
    for (queue, member), fact in barrier.releases.items():
        facts.setdefault(queue, {})[member] = fact
    for queue in sorted(set(draft.state.queues) | set(claimed)):
        value = draft.state.queues.get(queue, QueueState(late=True))
        adopted = _adopt_queue(value, claimed.get(queue, []), facts.get(queue, {}))
        gone = tuple(grant for grant in value.chain if grant not in adopted.chain)
        draft.resolved(queue, gone, adopted.base)
        draft.set_queue(queue, adopted)


_Facts = dict[MemberKey, tuple[Epoch, Position]]


def _adopt_queue(
    value: QueueState, claims: list[tuple[MemberKey, Claim]], facts: _Facts
) -> QueueState:
    running: tuple[Epoch, MemberKey] | None = None
    for epoch, position in facts.values():
        value = credit(value, epoch, position, "release")
    for key, claim in claims:
        value = credit(value, claim.epoch, claim.position, "progress")
        released = facts.get(key)
        if not claim.running or (released is not None and released[0] >= claim.epoch):
            continue
        if running is None or claim.epoch > running[0]:
            running = (claim.epoch, key)
    if running is None:
        return replace(value, chain=())
    # Not dropped, even if it was before: whoever learnt the generation before it read that drop
    # obeys it no more. If the queue is wanted elsewhere it is dropped again.
    return replace(value, chain=(Grant(running[1], running[0]),))
