"""One step of one group: the pure function that is the program (ADR 0080).

``step`` takes a group's state, the records read since, and the moment they lead to. It returns the
next state and everything to be written. It reads no clock, no environment and no randomness, and
iterates no set whose order matters: the streaming job, the tests and the replay run the same
function and get the same bytes.

The order of a step:

1. Apply all records: rules, routes, offsets, releases, then what came by the heartbeats topic.
2. End what has run out on the shard's clock: leases, waits for clients that restart.
3. Pass the barrier of a new generation, if every live member has acknowledged it.
4. Compute targets, unless the group is paused, lets changes settle, or does not stand by itself.
5. Hand queues over to their targets.
6. Request what is missing, notify members, and forget what is out of date.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fairlead.core.apply import KINDS, apply_record
from fairlead.core.decide import (
    aim_queues,
    repeat_grants,
    request_missing,
    request_wait_ms,
)
from fairlead.core.draft import Draft
from fairlead.core.footing.settle import footing_due_ms, settle_footing, stands_still
from fairlead.core.handover.forced_handover import mark_mute_members
from fairlead.core.handover.pull_idle import drop_idle_queues
from fairlead.core.membership.drained_members import report_drained
from fairlead.core.membership.leaving import free_unstarted
from fairlead.core.membership.member_disagreement import notify_disagreements
from fairlead.core.membership.members import (
    effective_members,
    forget_leavers,
    lapse_members,
    notify_duplicates,
    subscribed_topics,
)
from fairlead.core.membership.rebalance_delay import keep_targets, may_share, window_end_ms
from fairlead.core.membership.restart_grace import end_restart_grace
from fairlead.core.membership.tombstones import expire_tombstones
from fairlead.core.model import Source
from fairlead.core.moment import Moment
from fairlead.core.outputs import Output, Rejection, Request
from fairlead.core.positions.bounds import judge_doubts
from fairlead.core.positions.resets import settle_unrouted_resets
from fairlead.core.positions.topic_recreated import forget_routes
from fairlead.core.publishing.publish import outputs_of
from fairlead.core.publishing.resync import compare_digests, resend_assignments
from fairlead.core.publishing.waiting import notify_waiting
from fairlead.core.records import (
    Arrival,
    GroupRecord,
    Heartbeat,
    Progress,
    Release,
    Reset,
    RuleSet,
)
from fairlead.core.recovery.barrier import barrier_due_ms, enter_barrier, pass_barrier
from fairlead.core.rules.group_rules import EngineRules, changed_rules, rules_of
from fairlead.core.rules.quota import QUOTA
from fairlead.core.state import GroupState
from fairlead.core.targets.compute import allocation_text, compute_targets
from fairlead.core.targets.queue_measures import weigh_queues, weigh_when_due
from fairlead.core.topics.partitions_added import growth_end_ms
from fairlead.core.topics.retry_topic import has_retry_topic, own_retry_topic

__all__ = ["StepResult", "due_ms", "step"]


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one step returns. ``state`` is None if the group is unknown or was evicted.

    ``ignored`` are the places of the records that changed nothing: the engine had read them before,
    or they are out of date, or nobody waits for them.
    """

    state: GroupState | None
    outputs: tuple[Output, ...]
    counts: Mapping[tuple[str, str], int]
    ignored: frozenset[Source] = frozenset()


def step(
    state: GroupState | None, arrivals: Sequence[Arrival], moment: Moment, engine: EngineRules
) -> StepResult:
    """Return the group's next state and everything that follows from the records.

    ``arrivals`` are this group's records, sorted by (control, routes, offsets, releases,
    heartbeats), topic, partition and offset. ``state`` is None if the group is not known yet. A
    rule creates it; so does a heartbeat, if ``engine.auto_create`` or while rules may be unread.
    """
    known = state.copy() if state is not None else _create(arrivals, moment, engine)
    if known is None:
        return _unknown_group(arrivals)
    draft = Draft(known, moment, engine, rules_of(known.rules, engine))
    if state is not None and _is_nobodys(state, arrivals, moment, engine):
        return _forget(draft, arrivals)
    before = known.epoch
    enter_barrier(draft)
    if state is not None:
        _note_rules_of_all(draft)
    ignored = _apply_all(draft, arrivals)
    lapse_members(draft)
    end_restart_grace(draft)
    pass_barrier(draft)
    out_of_sync = compare_digests(draft, _accepted_heartbeats(draft, arrivals))
    notify_duplicates(draft)
    notify_disagreements(draft, state)
    if known.barrier is None:
        mark_mute_members(draft)
        settle_footing(draft)
        if not stands_still(known):
            _decide(draft)
        repeat_grants(draft)
        resend_assignments(draft, out_of_sync)
        if not stands_still(known):
            report_drained(draft)
        forget_leavers(draft)
    request_missing(draft)
    notify_waiting(draft)
    expire_tombstones(draft)
    _forget_unneeded(draft)
    outputs = outputs_of(draft, before)
    return StepResult(None if draft.evicted else known, outputs, dict(draft.counts), ignored)


def _apply_all(draft: Draft, arrivals: Sequence[Arrival]) -> frozenset[Source]:
    """Apply all records, and what only their sum decides; return those that changed nothing."""
    ignored = set()
    for arrival in arrivals:
        kind = KINDS[type(arrival.record)]
        applied = draft.counts[kind, "applied"]
        apply_record(draft, arrival)
        if draft.counts[kind, "applied"] == applied:
            ignored.add(arrival.source)
    judge_doubts(draft)
    free_unstarted(draft)
    settle_unrouted_resets(draft)
    return frozenset(ignored)


def _accepted_heartbeats(
    draft: Draft, arrivals: Sequence[Arrival]
) -> list[tuple[Arrival, Heartbeat]]:
    """Return the heartbeats that no check has refused: only these say what their members hold."""
    refused = {each.source for each in draft.rejections}
    return [
        (arrival, arrival.record)
        for arrival in arrivals
        if isinstance(arrival.record, Heartbeat) and arrival.source not in refused
    ]


def due_ms(state: GroupState, engine: EngineRules) -> int:
    """Return the clock at which the group must be stepped even without a record of its own."""
    rules = rules_of(state.rules, engine)
    barrier = state.barrier
    due = [(state.recomputed_ms // rules.trigger_ms + 1) * rules.trigger_ms]
    for key, alive in state.liveness.items():
        lease = max(rules.lease_ms, state.members[key].profile.lease_ms)
        due.append(alive.seen_ms + lease + rules.margin_ms + 1)
    due.extend(entry.since_ms + rules.restart_grace_ms for entry in state.awaited.values())
    window_ms = window_end_ms(state, rules)
    if window_ms is not None:
        due.append(window_ms)
    growth_ms = growth_end_ms(state, engine.switch_ms)
    if growth_ms is not None:
        due.append(growth_ms)
    due.extend(
        entry.asked_ms + request_wait_ms(state.group, what, topic, entry)
        for (what, topic), entry in state.requests.items()
    )
    if state.empty_since_ms is not None and may_be_forgotten(state):
        due.append(state.empty_since_ms + engine.evict_after_ms)
    footing_ms = footing_due_ms(state)
    if footing_ms is not None:
        due.append(footing_ms)
    if barrier is not None and (barrier_ms := barrier_due_ms(barrier, rules)) is not None:
        due.append(barrier_ms)
    return min(due)


def _create(arrivals: Sequence[Arrival], moment: Moment, engine: EngineRules) -> GroupState | None:
    groups = (_created_by(arrival.record, moment, engine) for arrival in arrivals)
    group = next((name for name in groups if name is not None), None)
    if group is None:
        return None
    # A newer state may have known a group that is met before the driver's marker: it waits as well.
    recovering = moment.recovering or moment.incomplete
    marked = moment.marker >= engine.generation and not _speaks_before(arrivals, moment, engine)
    passed = engine.generation if marked and not recovering else 0
    # The shard may have forgotten a group of this name, whose epochs are never used again.
    return GroupState(
        group, moment.clock_ms, passed, moment.number_floor, recomputed_ms=moment.clock_ms
    )


def _speaks_before(arrivals: Sequence[Arrival], moment: Moment, engine: EngineRules) -> bool:
    """Tell whether a member spoke before the marker while an earlier driver may have run.

    The marker may stand in the same batch. An earlier driver has heard its own members, so the
    clock had moved on before the marker.
    """
    if engine.generation == 1 or moment.marker_ms is None:
        return False
    return any(
        arrival.clock_ms < moment.marker_ms
        for arrival in arrivals
        if isinstance(arrival.record, Heartbeat)
    )


def _created_by(record: GroupRecord, moment: Moment, engine: EngineRules) -> str | None:
    """Return the name of the group that a record creates; None: it creates none."""
    if isinstance(record, RuleSet | Reset):
        # The group keeps a reset until a member follows it, even before it has any member.
        return record.group
    if not (engine.auto_create or _rules_are_unread(moment, engine)):
        return None
    if isinstance(record, Heartbeat):
        return record.group
    if moment.recovering and isinstance(record, Release | Progress):
        # After a loss this shows that the group was there, and perhaps how far it had come.
        return record.group
    return None


def _rules_are_unread(moment: Moment, engine: EngineRules) -> bool:
    """Tell whether the rule that made a group may be unread: the driver's marker waits for it.

    A member of such a group says only once what it works on, so its words are kept until then.
    """
    return 1 < engine.generation > moment.marker


def _is_nobodys(
    state: GroupState, arrivals: Sequence[Arrival], moment: Moment, engine: EngineRules
) -> bool:
    """Tell whether only heartbeats made this group, although only rules may, and all are read."""
    return (
        not engine.auto_create
        and not state.generation
        and may_be_forgotten(state)
        and not _rules_are_unread(moment, engine)
        and not any(isinstance(each.record, RuleSet | Reset) for each in arrivals)
    )


def _forget(draft: Draft, arrivals: Sequence[Arrival]) -> StepResult:
    """Forget a group that no rule made, as an eviction does, and refuse its records."""
    refused = _unknown_group(arrivals)
    draft.evicted = True
    draft.because("group_evicted")
    outputs = outputs_of(draft, draft.state.epoch)
    return replace(refused, outputs=(*outputs, *refused.outputs))


def _unknown_group(arrivals: Sequence[Arrival]) -> StepResult:
    counts: dict[tuple[str, str], int] = {}
    rejections = []
    for arrival in arrivals:
        asks = isinstance(arrival.record, Heartbeat | Reset)
        key = (KINDS[type(arrival.record)], "rejected" if asks else "stale")
        counts[key] = counts.get(key, 0) + 1
        if asks:
            detail = "there is no such group"
            remedy = "create it by setting one of its rules, or set groups.auto_create = true"
            rejections.append(Rejection(arrival.source, "unknown_group", "group", detail, remedy))
    sources = {arrival.source for arrival in arrivals} - {each.source for each in rejections}
    return StepResult(None, tuple(rejections), counts, frozenset(sources))


def _note_rules_of_all(draft: Draft) -> None:
    """Note which changed rules of all groups change a rule of this one, which may have its own."""
    change = draft.engine.defaults_change
    if change is None:
        return
    before = rules_of(draft.state.rules, replace(draft.engine, defaults=change.before))
    changed = changed_rules(before, draft.rules)
    for cause in change.causes:
        if cause.rule in changed:
            draft.because_of(cause)
            draft.weigh_now = True
            draft.ask_routes |= cause.rule == QUOTA


def _decide(draft: Draft) -> None:
    """Compute targets if anything asks for that, and hand queues over; note what triggered it."""
    state, clock, period = draft.state, draft.moment.clock_ms, draft.rules.trigger_ms
    triggered = clock // period > state.recomputed_ms // period
    if draft.weigh_now:
        weigh_queues(draft, clock)
    weigh_when_due(draft, clock)
    if triggered:
        state.recomputed_ms = clock
    may_move = may_share(draft)
    asked = triggered or draft.asked is not None
    asked = asked or draft.dirty or state.allocated_by != allocation_text(draft)
    if asked:
        (compute_targets if may_move else keep_targets)(draft)
    # After the targets: a strategy that looks at owners sees an idle queue with its member.
    drop_idle_queues(draft)
    if not asked and not draft.causes and not draft.moves:
        return
    caused = bool(draft.causes)
    moved = len(draft.moves)
    aim_queues(draft)
    if len(draft.moves) == moved:
        return
    if draft.asked is not None:
        draft.because_of(draft.asked)
    elif triggered and not caused:
        draft.because("trigger")


def may_be_forgotten(state: GroupState) -> bool:
    """Tell whether a group keeps nothing that an operator said: no rule, no pending reset."""
    return not state.rules and not any(value.has_pending_reset for value in state.queues.values())


def _forget_unneeded(draft: Draft) -> None:
    """Forget the routes that no member needs any more, and after a set time the group itself."""
    state, clock = draft.state, draft.moment.clock_ms
    # A full shard adds no topic: a client that restarts would not get back what it alone reads.
    may_return = bool(draft.engine.group_bytes and state.tombstones)
    if effective_members(state.members) and not may_return:
        forget_routes(draft, subscribed_topics(state))
    if state.members or state.awaited:
        state.empty_since_ms = None
    elif state.empty_since_ms is None:
        state.empty_since_ms = clock
        state.standing = None
    elif clock - state.empty_since_ms >= draft.engine.evict_after_ms and may_be_forgotten(state):
        draft.evicted = True
        draft.because("group_evicted")
        if has_retry_topic(state.group, state.routes):
            # The bridge may remove the topic once nothing in it is left to read.
            retry = own_retry_topic(state.group)
            draft.requests.append(Request(state.group, "forgotten", retry, None, None))
