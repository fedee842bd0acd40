"""What a step writes: assignments, notices, requests, refusals, and the decision as audit record.

Decides nothing. A step that changed only liveness and positions writes nothing.
"""

from dataclasses import replace

from fairlead.core.draft import Draft
from fairlead.core.footing.standby_words import epoch_of_assignment, standby_word
from fairlead.core.handover.chain import Phase, phase_of
from fairlead.core.handover.forced_handover import is_eager
from fairlead.core.handover.staggered_release import turns_of
from fairlead.core.membership.members import effective_members, shared_topics
from fairlead.core.model import NOTHING, Epoch, MemberKey, MessageQueue
from fairlead.core.ordering import java_order
from fairlead.core.outputs import (
    ENTRIES_PER_PART,
    Assignment,
    Cut,
    Decision,
    GroupSummary,
    Holding,
    Output,
)
from fairlead.core.rules.group_rules import GroupRules
from fairlead.core.standing import Footing
from fairlead.core.state import GroupState, QueueState
from fairlead.core.targets.compute import alarms_of, shared_queues
from fairlead.core.topics.retry_topic import is_awaited
from fairlead.core.topics.routes import is_lacking

__all__ = ["outputs_of", "summary_of"]


def outputs_of(draft: Draft, before: Epoch) -> tuple[Output, ...]:
    """Return everything that the step writes, in a fixed order; ``before`` is the former epoch."""
    written: list[Output] = []
    if draft.state.barrier is None:
        written.extend(_assignments(draft))
        written.extend(_closing(draft))
    written.extend(draft.gone)
    written.extend(draft.notices)
    written.extend(draft.requests)
    if written or draft.causes or draft.moves or draft.alarms:
        written.append(_decision(draft, before))
    written.extend(draft.rejections)
    return tuple(written)


def summary_of(state: GroupState, rules: GroupRules) -> GroupSummary:
    """Return the group's phase and counts under the rules in force."""
    shared = [queue for held in shared_queues(state).values() for queue in held]
    standing = state.standing
    footing = None if standing is None else standing.footing
    theirs = standing is not None and standing.is_theirs
    exclusive = not (theirs or (standing is not None and standing.foreign))
    # What the data plane shares out waits for nobody here.
    free = [] if theirs else [queue for queue in shared if not _chain(state, queue)]
    pending = [queue for queue in free if _is_pending(state, queue)]
    passing = [
        value
        for queue, value in state.queues.items()
        if phase_of(value) in (Phase.DRAINING, Phase.HANDOVER, Phase.BLOCKED)
    ]
    holds = (
        ("recovering", state.barrier is not None and state.barrier.recovering),
        ("barrier", state.barrier is not None),
        ("standby", footing is Footing.FOLLOWING),
        ("taking_over", footing in (Footing.FREEZING, Footing.CONFIRMING)),
        ("paused", rules.pause),
        ("empty", not effective_members(state.members) and not state.awaited),
        ("settling", state.settling is not None),
        ("waiting_for_route", _lacks_route(state, rules)),
        ("waiting_for_offsets", bool(pending)),
        ("waiting_for_clients", _awaits(state)),
        ("giving_back", footing is Footing.RETURNING),
        ("handing_over", bool(passing)),
    )
    phase = next((word for word, held in holds if held), "stable")
    unsafe = sum(bool(value.overtaken) for value in state.queues.values())
    counts = (len(shared), len(free), len(passing), len(pending), unsafe)
    return GroupSummary(phase, *counts, footing=footing, exclusive=exclusive)


def _lacks_route(state: GroupState, rules: GroupRules) -> bool:
    """Tell whether a shared topic has no route, perhaps since somebody deleted it."""
    return any(
        is_lacking(state.routes, topic) and is_awaited(state.group, topic, rules.retry_topics)
        for topic in shared_topics(state)
    )


def _awaits(state: GroupState) -> bool:
    """Tell whether queues wait for the return of a client."""
    if not state.awaited:
        return False
    return any(client_id in state.awaited for client_id in state.targets.values())


def _chain(state: GroupState, queue: MessageQueue) -> bool:
    value = state.queues.get(queue)
    return value is not None and bool(value.chain)


def _is_pending(state: GroupState, queue: MessageQueue) -> bool:
    value = state.queues.get(queue)
    awaited = queue in state.targets or state.growing_since_ms is not None
    return value is not None and value.base is None and awaited


def _assignments(draft: Draft) -> list[Assignment]:
    state = draft.state
    newcomers = {key for key, member in state.members.items() if member.parts == 0}
    members = sorted((draft.to_assign | newcomers) & set(state.members))
    if newcomers:
        draft.new_epoch()
    held: dict[MemberKey, list[Holding]] = {key: [] for key in members}
    for queue in sorted(state.queues) if members else ():
        value = state.queues[queue]
        for grant in value.overtaken:
            if grant.member in held and grant.epoch != NOTHING:
                held[grant.member].append(Holding(queue, grant.epoch, "draining"))
        for index, grant in enumerate(value.chain):
            if grant.member in held:
                held[grant.member].append(_holding(draft, queue, value, index))
    _stagger_drops(draft)
    return [_assignment(draft, key, tuple(held[key])) for key in members]


def _closing(draft: Draft) -> list[Assignment]:
    state, moment = draft.state, draft.moment
    causes = tuple(draft.causes.values())
    return [
        Assignment(
            state.group,
            key,
            draft.engine.generation,
            state.epoch,
            (),
            (),
            (),
            causes,
            moment.append_ms,
        )
        for key in draft.closing
    ]


def _stagger_drops(draft: Draft) -> None:
    """Stagger the drops of members that hand over (ADR 0081).

    Only drops with a successor wait for their turn: it does not work before the release.
    """
    if is_eager(draft):
        return
    handing = [key for key, drops in draft.drops.items() if any(drop.successor for drop in drops)]
    for key, linger_ms in turns_of(handing, draft.engine.turn_ms).items():
        draft.drops[key] = [
            drop if drop.successor is None else replace(drop, linger_ms=linger_ms)
            for drop in draft.drops[key]
        ]


def _holding(draft: Draft, queue: MessageQueue, value: QueueState, index: int) -> Holding:
    grant = value.chain[index]
    if grant.dropped:
        return Holding(queue, grant.epoch, "draining")
    if index == 0:
        return Holding(queue, grant.epoch, "held")
    add = draft.add_of(queue, grant, value)
    return Holding(queue, grant.epoch, "gated", add.position, add.why, add.after, add.identity)


def _assignment(draft: Draft, key: MemberKey, held: tuple[Holding, ...]) -> Assignment:
    drops, adds = tuple(draft.drops.get(key, ())), tuple(draft.adds.get(key, ()))
    longest = max(len(drops), len(adds), len(held))
    parts = max(1, -(-longest // ENTRIES_PER_PART))
    member = draft.state.members[key]
    draft.update_member(member, parts=parts)
    return Assignment(
        draft.state.group,
        key,
        draft.engine.generation,
        epoch_of_assignment(draft.state),
        drops,
        adds,
        held,
        tuple(draft.causes.values()),
        draft.moment.append_ms,
        parts,
        member.parts,
        standby_word(draft.state, member),
    )


def _decision(draft: Draft, before: Epoch) -> Decision:
    state, moment = draft.state, draft.moment
    causes = tuple(draft.causes.values())
    return Decision(
        group=state.group,
        epoch=state.epoch,
        previous_epoch=before,
        triggers=tuple(dict.fromkeys(cause.kind for cause in causes)),
        cause=causes,
        strategy=draft.rules.strategy,
        members=tuple(sorted(effective_members(state.members), key=java_order)),
        moves=tuple(draft.moves),
        state=summary_of(state, draft.rules),
        failures=tuple(state.failures[topic] for topic in sorted(state.failures)),
        alarms=alarms_of(draft),
        clock_ms=moment.clock_ms,
        at_ms=moment.append_ms,
        cut=Cut(draft.engine.generation, moment.shard, moment.step, moment.positions),
    )
