"""The barrier that a group passes after each start of a driver, and after a loss of its state.

At a start nobody can tell whether the state is intact, older than what was written, or shared with
a driver that still runs. So the group grants nothing until it has read the driver's marker and each
live member has acknowledged the new generation, naming what it works on. Then the members' claims
are the truth: per queue the highest running claim is the chain, every other grant is void, and the
base is the greatest position that anybody reported. Owners go on meanwhile (rules H14, H15).

After a loss of its state the group is *recovering*: it does not know either who may be working. It
then also waits for lease and margin from the marker, to hear every live member (rule H18).

ADR 0082 gives the reasons.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from fairlead.core.draft import Draft
from fairlead.core.footing.after_barrier import find_footing, silent_members
from fairlead.core.handover.drop import drop_owner
from fairlead.core.handover.fencing import FENCED, FUTURE_EPOCH
from fairlead.core.handover.forced_handover import (
    is_eager,
    may_be_forced,
    queues_passed_without,
    settle_late_claims,
    unknown_grants,
)
from fairlead.core.membership.members import shared_topics
from fairlead.core.membership.strangers import hears_strangers
from fairlead.core.model import NOTHING, Epoch, MemberKey, MessageQueue, Position
from fairlead.core.positions.bounds import doubt_adopted, is_doubtful, settle_doubts
from fairlead.core.records import Arrival, Claim, Claims, Heartbeat
from fairlead.core.recovery.barrier_exit import (
    adopt_queue,
    runs_before_reset,
    still_running,
    with_pending_reset,
)
from fairlead.core.recovery.remembered import (
    credit_in_barrier,
    is_impossible,
    is_late,
    knows_nothing,
    may_keep_claims,
    refuse_claims,
    unknown_queue,
)
from fairlead.core.rules.group_rules import GroupRules
from fairlead.core.state import Barrier, ClaimSet, Grant, QueueState
from fairlead.core.topics.topic_identity import (
    note_recreated,
    of_present_identity,
    positions_by_identity,
)

__all__ = [
    "acknowledge_by_beat",
    "apply_claims",
    "barrier_due_ms",
    "enter_barrier",
    "pass_barrier",
]


def enter_barrier(draft: Draft) -> None:
    """Start the barrier of the driver's generation.

    It replaces a barrier of an older generation; a start inside a recovery stays a recovery.
    """
    state, moment, generation = draft.state, draft.moment, draft.engine.generation
    before = state.barrier
    started = generation > state.generation
    lost = moment.incomplete or (moment.recovering and started)
    if not (started or lost):
        return
    if before is not None and before.generation >= generation and (before.recovering or not lost):
        return
    recovering = lost or state.recovering
    barrier = Barrier(generation, moment.clock_ms, recovering=recovering)
    if before is not None:
        barrier = replace(barrier, releases=before.releases, reported=before.reported)
    state.barrier = barrier
    state.claims = {
        key: held for key, held in state.claims.items() if held.generation >= generation
    }
    for key in sorted(state.claims):
        # Claims from before the barrier count as those in it.
        for _, claims in sorted(state.claims[key].read.items()):
            for claim in claims:
                credit_in_barrier(draft, key, claim)
    draft.because("recovery_started" if recovering else "generation_started")


def apply_claims(draft: Draft, arrival: Arrival, claims: Claims) -> None:
    """Apply one part of a member's acknowledgement.

    An acknowledgement of a passed generation changes nothing, unless the barrier passed without it.
    One of a newer generation stays: the driver that needs it may start from this state.
    """
    state, clock_ms = draft.state, arrival.clock_ms
    # In a barrier its heartbeat may be read later: of those that waited only the newest is kept.
    met = claims.member in state.members
    stone = state.tombstones.get(claims.member)
    gone = stone is not None and clock_ms <= stone.until_ms
    if not met and (state.barrier is None or gone or is_late(draft, claims.member, clock_ms)):
        draft.counts["claims", "stale"] += 1
        return
    passed = state.generation
    if state.barrier is not None:
        # A group that lost records passes the barrier of its own generation once more.
        passed = min(passed, state.barrier.generation - 1)
    late = queues_passed_without(state, claims) if claims.generation <= passed else None
    if late == []:
        draft.counts["claims", "duplicate"] += 1
        return
    if not may_keep_claims(draft, claims):
        refuse_claims(draft, arrival, claims)
        return
    draft.counts["claims", "applied"] += 1
    if late:
        settle_late_claims(draft, claims, late)
        return
    held = state.claims.get(claims.member)
    if held is not None and claims.generation < held.generation <= draft.engine.generation:
        return
    # A future generation may be invented: it never outlasts a later acknowledgement.
    if held is None or (held.generation, held.parts) != (claims.generation, claims.parts):
        held = ClaimSet(claims.generation, claims.parts, {})
    state.claims[claims.member] = replace(held, read={**held.read, claims.part: claims.queues})
    if state.barrier is not None:
        # The member may lapse before the barrier ends; what it has processed stays processed.
        for claim in claims.queues:
            credit_in_barrier(draft, claims.member, claim)


def acknowledge_by_beat(draft: Draft, beat: Heartbeat) -> None:
    """Count the heartbeat of a newcomer that holds nothing as its acknowledgement.

    A client writes its claims once, after its first heartbeat. If the engine refused that one, it
    dropped the claims as a stranger's: a barrier that stays open would wait for them for ever.
    """
    barrier, member = draft.state.barrier, draft.state.members.get(beat.member)
    if barrier is None or member is None or beat.digest or beat.generation < barrier.generation:
        return
    held = draft.state.claims.get(beat.member)
    if hears_strangers(draft, member.joined_ms) or (
        held is not None and held.generation == barrier.generation
    ):
        return
    draft.state.claims[beat.member] = ClaimSet(barrier.generation, 1, {0: ()})


def pass_barrier(draft: Draft) -> None:
    """Mark the barrier, raise the alarm on a mute member, or end it.

    It ends when every member that may be working has acknowledged; in a recovery not before the
    engine must have heard every such member.
    """
    state = draft.state
    barrier = _marked(draft)
    if barrier is None:
        return
    waiting = _waited_for(draft, barrier.generation)
    mute = _mute_among(draft, barrier, waiting)
    if len(mute) < len(waiting) or (barrier.recovering and not barrier.waited):
        return
    _adopt(draft, barrier, mute)
    state.generation = barrier.generation
    state.barrier = None
    for queue, value in sorted(state.queues.items()):
        # A position beyond the end that was known then may lie within it by now.
        if not all(is_doubtful(value, each.position) for each in value.doubts):
            settle_doubts(draft, queue)
    # A sender that is no member by now never lapses either: its claims would stay for ever.
    state.claims = {
        key: held
        for key, held in state.claims.items()
        if held.generation > barrier.generation and key in state.members
    }
    _drop_void(draft)
    if barrier.recovering:
        state.late_topics = tuple(sorted(shared_topics(state)))
    find_footing(draft, lost=barrier.recovering)
    # Answers did not count meanwhile: the group asks again, at once.
    state.requests = {}
    draft.because("recovery_passed" if barrier.recovering else "generation_passed")
    draft.dirty = True


def barrier_due_ms(barrier: Barrier, rules: GroupRules) -> int | None:
    """Return the clock at which a barrier may change without a record; None: never."""
    counted_from = barrier.counted_from_ms
    if counted_from is None:
        return 0
    due = []
    if barrier.recovering and not barrier.waited:
        due.append(counted_from + rules.lease_ms + rules.margin_ms + 1)
    if not barrier.mute_told and rules.drain_deadline_ms is not None:
        due.append(counted_from + rules.drain_deadline_ms + 1)
    return min(due, default=None)


def _marked(draft: Draft) -> Barrier | None:
    """Return the barrier with its waits at this clock; None: the marker is unread."""
    state, moment = draft.state, draft.moment
    barrier = state.barrier
    if barrier is None or (barrier.marked_ms is None and moment.marker < barrier.generation):
        return None
    if barrier.marked_ms is None:
        # The clock at the marker's own record: the end of the batch that read it must not matter.
        marked_ms = moment.clock_ms if moment.marker_ms is None else moment.marker_ms
        barrier = replace(barrier, marked_ms=marked_ms)
    wait = draft.rules.lease_ms + draft.rules.margin_ms
    if barrier.recovering and not barrier.waited:
        barrier = replace(barrier, waited=_silent_ms(draft, barrier) > wait)
    state.barrier = barrier
    return barrier


def _silent_ms(draft: Draft, barrier: Barrier) -> int:
    counted_from = barrier.counted_from_ms
    return 0 if counted_from is None else draft.moment.clock_ms - counted_from


def _waited_for(draft: Draft, generation: int) -> list[MemberKey]:
    """Return the members that have not acknowledged the generation.

    Leaving members are among them: no state may know what they still work on. Broadcasting members
    are not: they never had a grant.
    """
    claims = draft.state.claims
    sharing = (key for key, member in draft.state.members.items() if member.shares)
    silent = {*silent_members(draft, generation)}
    return [
        key
        for key in sharing
        if (held := claims.get(key)) is None
        or held.generation != generation
        or not held.complete
        or key in silent
    ]


def _mute_among(draft: Draft, barrier: Barrier, waiting: list[MemberKey]) -> list[MemberKey]:
    """Return the late members that heartbeat, if a rule passes the barrier without them (H27).

    The first late member raises an alarm, whether or not the barrier waits for it.
    """
    deadline_ms = draft.rules.drain_deadline_ms
    if deadline_ms is None or _silent_ms(draft, barrier) <= deadline_ms:
        return []
    counted_from = barrier.counted_from_ms or 0
    liveness = draft.state.liveness
    mute = [key for key in waiting if liveness[key].seen_ms > counted_from]
    if mute and not barrier.mute_told:
        draft.alarms.add("barrier_mute")
        draft.state.barrier = replace(barrier, mute_told=True)
    return [key for key in mute if may_be_forced(draft, key)]


def _drop_void(draft: Draft) -> None:
    """Drop the grants under a former identity of their topic.

    A barrier drops nothing before its end, so members keep the queues of a recreated topic so long.
    """
    for queue in sorted(draft.state.queues):
        value = draft.state.queues[queue]
        newest = value.chain[-1] if value.chain else None
        if newest is not None and not newest.dropped and newest.epoch <= value.void:
            drop_owner(draft, queue, value)


def _adopt(draft: Draft, barrier: Barrier, mute: list[MemberKey]) -> None:
    claimed: dict[MessageQueue, list[tuple[MemberKey, Claim]]] = {}
    for key in sorted(draft.state.members):
        held = draft.state.claims.get(key)
        if held is None or key in mute:
            # The barrier passes over a mute member's claims in part, as over all it may work on.
            continue
        for part in sorted(held.read):
            for claim in held.read[part]:
                if is_impossible(draft, claim.epoch):
                    draft.counts[FENCED, f"claims/{FUTURE_EPOCH}"] += 1
                    continue
                claimed.setdefault(claim.queue, []).append((key, claim))
    facts: dict[MessageQueue, dict[MemberKey, tuple[Epoch, Position | None]]] = {}
    for (queue, member), fact in barrier.releases.items():
        if is_impossible(draft, fact[0]):
            continue
        facts.setdefault(queue, {})[member] = fact
    reported, lost = positions_by_identity(draft.state), knows_nothing(draft.state)
    for queue in sorted(set(draft.state.queues) | set(claimed) | set(reported)):
        value = draft.state.queues.get(queue) or unknown_queue(draft.state)
        present = draft.state.identity_of(queue.topic)
        positions = reported.get(queue, {})
        if len({*positions, present} - {None}) > 1:
            note_recreated(draft, queue.topic)
        alive = of_present_identity(value, present, positions, lost=lost)
        identity = present or alive.identity
        claims = claimed.get(queue, [])
        adopted = adopt_queue(alive, claims, facts.get(queue, {}), identity, lost=lost)
        # In this order: a doubtful position does not prove that a reset was followed.
        adopted = with_pending_reset(doubt_adopted(value, adopted))
        adopted = _pass_over_mute(draft, queue, value, adopted, mute)
        if is_eager(draft):
            at_work = still_running(claims, facts.get(queue, {}))
            adopted = _keep_at_work(draft, queue, adopted, at_work)
        left = {(grant.member, grant.epoch) for grant in adopted.grants}
        gone = [grant for grant in value.grants if (grant.member, grant.epoch) not in left]
        draft.resolved(queue, [grant for grant in gone if grant.epoch != NOTHING], adopted.base)
        draft.set_queue(queue, adopted)
        if runs_before_reset(adopted, claims):
            drop_owner(draft, queue, adopted)


def _keep_at_work(
    draft: Draft,
    queue: MessageQueue,
    adopted: QueueState,
    at_work: Collection[tuple[Epoch, MemberKey]],
) -> QueueState:
    """Keep, as overtaken, whom a newer grant has overtaken that the state does not know."""
    clock_ms = draft.moment.clock_ms
    listed = {(grant.epoch, grant.member) for grant in adopted.grants}
    for epoch, member in sorted(at_work):
        if (epoch, member) not in listed:
            past = Grant(member, epoch, dropped=True, dropped_ms=clock_ms)
            adopted = replace(adopted, overtaken=(*adopted.overtaken, past))
            draft.new_epoch()
            draft.command_drop(queue, past)
    return adopted


def _pass_over_mute(
    draft: Draft,
    queue: MessageQueue,
    before: QueueState,
    adopted: QueueState,
    mute: Sequence[MemberKey],
) -> QueueState:
    """Keep, as overtaken, what members without an acknowledgement may be working on.

    They may work on any queue, whatever the state knows, unless another member claims to run it.
    """
    clock_ms = draft.moment.clock_ms
    known = tuple(
        replace(grant, dropped=True, dropped_ms=clock_ms, mute=True)
        for grant in before.grants
        if grant.member in mute and grant.epoch != NOTHING
    )
    for grant in known:
        draft.new_epoch()
        draft.command_drop(queue, grant)
    named = {grant.member for grant in known}
    unknown = () if adopted.chain else [key for key in mute if key not in named]
    return replace(
        adopted, overtaken=(*adopted.overtaken, *known, *unknown_grants(unknown, clock_ms))
    )
