"""The barrier that a group passes after each start of a driver, and after a loss of its state.

Nobody can tell at a start whether the state is intact, older than what was written, or shared with
a driver that still runs. So nothing is granted until the driver's marker was read and each live
member has acknowledged the new generation, naming what it works on. Then what the members claim is
the truth: per queue the highest running claim is the chain, every other grant is void, and the base
is the greatest position anybody reported. Owners go on working all the while (rules H14, H15).

Where the state was lost the group is *recovering*: nobody can tell either who may be working. Then
it also waits for lease and margin from the marker, in which whoever is alive is heard (rule H18).

ADR 0082 gives the reasons.
"""

from collections.abc import Sequence
from dataclasses import replace

from fairlead.core.recovery.barrier_exit import adopt_queue, is_from_before_its_reset, with_its_reset
from fairlead.core.positions.bounds import doubt_adopted, is_doubtful, settle_doubts
from fairlead.core.draft import Draft
from fairlead.core.handover.drop import drop_owner
from fairlead.core.handover.fencing import FENCED, FUTURE_EPOCH
from fairlead.core.handover.forced_handover import marks, may_be_forced, passed_without, settle_late_claims
from fairlead.core.membership.members import shared_topics
from fairlead.core.model import NOTHING, Epoch, MemberKey, MessageQueue, Position
from fairlead.core.records import Arrival, Claim, Claims, Heartbeat
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
from fairlead.core.state import Barrier, ClaimSet, QueueState
from fairlead.core.membership.strangers import hears_strangers
from fairlead.core.topics.topic_identity import in_its_life, lives_told, note_remade

__all__ = [
    "acknowledge_by_beat",
    "apply_claims",
    "barrier_due_ms",
    "enter_barrier",
    "pass_barrier",
]


def enter_barrier(draft: Draft) -> None:
    """Start the barrier of the driver's generation.

    Anew if one of an older generation is still in progress; a start inside a recovery stays one.
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
        barrier = replace(barrier, releases=before.releases, told=before.told)
    state.barrier = barrier
    state.claims = {
        key: held for key, held in state.claims.items() if held.generation >= generation
    }
    for key in sorted(state.claims):
        # What was claimed before the barrier counts as what is claimed in it.
        for _, claims in sorted(state.claims[key].read.items()):
            for claim in claims:
                credit_in_barrier(draft, key, claim)
    draft.because("recovery_started" if recovering else "generation_started")


def apply_claims(draft: Draft, arrival: Arrival, claims: Claims) -> None:
    """Take in one part of a member's acknowledgement.

    Acknowledgements of a generation that this group has passed only say so; those of a newer one
    are kept, since the driver that needs them may start from this state.
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
    late = passed_without(state, claims) if claims.generation <= passed else None
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
    # A generation that is not there yet may be invented: it never outlasts what is said after it.
    if held is None or (held.generation, held.parts) != (claims.generation, claims.parts):
        held = ClaimSet(claims.generation, claims.parts, {})
    state.claims[claims.member] = replace(held, read={**held.read, claims.part: claims.queues})
    if state.barrier is not None:
        # The member may lapse before the barrier ends; what it has processed stays processed.
        for claim in claims.queues:
            credit_in_barrier(draft, claims.member, claim)


def acknowledge_by_beat(draft: Draft, beat: Heartbeat) -> None:
    """Take the heartbeat of a newcomer that holds nothing for its acknowledgement.

    A client writes its claims once, behind its first heartbeat. If that one was refused, they were
    a stranger's, and in a barrier that is held open nobody kept them: it would wait for good.
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

    It ends when everybody who may be working has acknowledged; in a recovery not before everybody
    who may be working must have been heard.
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
        # What lay beyond the end as it was known then may lie within it by now.
        if not all(is_doubtful(value, each.position) for each in value.doubts):
            settle_doubts(draft, queue)
    # Who is no member by now never lapses either: what it says would be kept for good.
    state.claims = {
        key: held
        for key, held in state.claims.items()
        if held.generation > barrier.generation and key in state.members
    }
    _drop_void(draft)
    if barrier.recovering:
        state.late_topics = tuple(sorted(shared_topics(state)))
    # What was answered meanwhile did not count: it is asked for again, at once.
    state.requests = {}
    draft.because("recovery_passed" if barrier.recovering else "generation_passed")
    draft.dirty = True


def barrier_due_ms(barrier: Barrier, rules: GroupRules) -> int | None:
    """Return the clock at which a barrier must be looked at without a record; None: never."""
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
    """Return the barrier with what the clock has made of it; None: the marker is not read yet."""
    state, moment = draft.state, draft.moment
    barrier = state.barrier
    if barrier is None or (barrier.marked_ms is None and moment.marker < barrier.generation):
        return None
    if barrier.marked_ms is None:
        # Of the marker's own record: when a batch ended that read it must not change anything.
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

    Those that leave are among them: what they still work on may be in no state. Whoever broadcasts
    was never granted anything.
    """
    claims = draft.state.claims
    sharing = (key for key, member in draft.state.members.items() if member.shares)
    return [
        key
        for key in sharing
        if (held := claims.get(key)) is None or held.generation != generation or not held.complete
    ]


def _mute_among(draft: Draft, barrier: Barrier, waiting: list[MemberKey]) -> list[MemberKey]:
    """Return those who heartbeat, have not acknowledged in time, and are not to be waited for.

    The first time that there are any who are late, whether or not they are waited for, an alarm is
    raised.
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
    """Drop what was claimed of a topic's former life.

    Nothing is dropped inside a barrier, so a topic that is made anew there is kept until its end.
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
            # What a mute member claimed in part is passed like everything else it may work on.
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
    told, lost = lives_told(draft.state), knows_nothing(draft.state)
    for queue in sorted(set(draft.state.queues) | set(claimed) | set(told)):
        value = draft.state.queues.get(queue) or unknown_queue(draft.state)
        present = draft.state.identity_of(queue.topic)
        lives = told.get(queue, {})
        if len({*lives, present} - {None}) > 1:
            note_remade(draft, queue.topic)
        alive = in_its_life(value, present, lives, lost=lost)
        life = present or alive.identity
        claims = claimed.get(queue, [])
        adopted = adopt_queue(alive, claims, facts.get(queue, {}), life, lost=lost)
        # In this order: what is doubted does not tell that a reset was followed.
        adopted = with_its_reset(doubt_adopted(value, adopted))
        adopted = _past_the_mute(draft, queue, value, adopted, mute)
        left = {(grant.member, grant.epoch) for grant in (*adopted.overtaken, *adopted.chain)}
        before = (*value.overtaken, *value.chain)
        gone = [grant for grant in before if (grant.member, grant.epoch) not in left]
        draft.resolved(queue, [grant for grant in gone if grant.epoch != NOTHING], adopted.base)
        draft.set_queue(queue, adopted)
        if is_from_before_its_reset(adopted, claims):
            drop_owner(draft, queue, adopted)


def _past_the_mute(
    draft: Draft,
    queue: MessageQueue,
    before: QueueState,
    adopted: QueueState,
    mute: Sequence[MemberKey],
) -> QueueState:
    """Keep what those may be working on who have acknowledged nothing: on anything, if on nothing.

    Only a queue that somebody else claims to run is certainly nobody's among them.
    """
    clock_ms = draft.moment.clock_ms
    known = tuple(
        replace(grant, dropped=True, dropped_ms=clock_ms, mute=True)
        for grant in (*before.overtaken, *before.chain)
        if grant.member in mute and grant.epoch != NOTHING
    )
    for grant in known:
        draft.new_epoch()
        draft.command_drop(queue, grant)
    named = {grant.member for grant in known}
    unknown = () if adopted.chain else [key for key in mute if key not in named]
    return replace(adopted, overtaken=(*adopted.overtaken, *known, *marks(unknown, clock_ms)))
