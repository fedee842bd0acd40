"""One step of one group: the pure function that is the program (ADR 0080).

``step`` takes the state, the records read since, and the moment they lead to, and returns the next
state and everything to be written. It reads no clock, no environment and no randomness, and
iterates no set whose order matters: the streaming job, the tests and the replay run the same
function and get the same bytes.

Order of a step: all records are applied (rules, routes, offsets, releases, then what came by the
heartbeats topic); members whose lease ended on the shard's clock are taken for dead; the barrier of
a new generation is passed, if it can be; targets are computed, unless the group is paused or lets
changes settle; queues are handed over; what is missing is asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fairlead.core.apply import KINDS, apply_record
from fairlead.core.recovery.barrier import barrier_due_ms, enter_barrier, pass_barrier
from fairlead.core.positions.bounds import judge_by_answers
from fairlead.core.decide import (
    aim_queues,
    ask_for_the_missing,
    grant_again,
    request_wait_ms,
)
from fairlead.core.draft import Draft
from fairlead.core.membership.drained_members import note_drained
from fairlead.core.handover.forced_handover import look_for_mute
from fairlead.core.membership.leaving import end_leaves
from fairlead.core.membership.member_disagreement import agree
from fairlead.core.membership.members import (
    bury_leavers,
    effective_members,
    lapse_members,
    subscribed_topics,
    tell_duplicates,
)
from fairlead.core.model import Source
from fairlead.core.outputs import Output, Rejection, Request
from fairlead.core.topics.partitions_added import growth_end_ms
from fairlead.core.publishing.publish import outputs_of
from fairlead.core.handover.pull_idle import take_anew
from fairlead.core.targets.queue_measures import weigh_queues, weigh_when_due
from fairlead.core.rules.quota import QUOTA
from fairlead.core.membership.rebalance_delay import keep_targets, may_share, window_end_ms
from fairlead.core.records import (
    Arrival,
    GroupRecord,
    Heartbeat,
    Progress,
    Release,
    Reset,
    RuleSet,
)
from fairlead.core.positions.resets import refuse_strange_resets
from fairlead.core.membership.restart_grace import give_up_the_absent
from fairlead.core.publishing.resync import heal_members, note_digests
from fairlead.core.topics.retry_topic import has_retry_topic, own_retry_topic
from fairlead.core.rules.group_rules import EngineRules, Moment, changed_rules, rules_of
from fairlead.core.state import GroupState
from fairlead.core.targets.compute import allocation_text, compute_targets
from fairlead.core.membership.tombstones import forget_the_gone
from fairlead.core.positions.topic_recreated import forget_routes
from fairlead.core.publishing.waiting import tell_waiting

__all__ = ["StepResult", "due_ms", "step"]


@dataclass(frozen=True, slots=True)
class StepResult:
    """The group after the step (None.

    It is not, or no longer, remembered), what to write, what was counted, and which records changed
    nothing: they were read before, are out of date, or nobody waits for them.
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
    heartbeats), topic, partition and offset. ``state`` None: the group is not known yet; a rule
    creates it, and a heartbeat if ``engine.auto_create`` or as long as rules may be unread.
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
    ignored = set()
    for arrival in arrivals:
        kind = KINDS[type(arrival.record)]
        applied = draft.counts[kind, "applied"]
        apply_record(draft, arrival)
        if draft.counts[kind, "applied"] == applied:
            ignored.add(arrival.source)
    judge_by_answers(draft)
    end_leaves(draft)
    refuse_strange_resets(draft)
    lapse_members(draft)
    give_up_the_absent(draft)
    pass_barrier(draft)
    heal = note_digests(draft, _read_heartbeats(draft, arrivals))
    tell_duplicates(draft)
    agree(draft, state)
    if known.barrier is None:
        look_for_mute(draft)
        _decide(draft)
        grant_again(draft)
        heal_members(draft, heal)
        note_drained(draft)
        bury_leavers(draft)
    ask_for_the_missing(draft)
    tell_waiting(draft)
    forget_the_gone(draft)
    _tidy(draft)
    outputs = outputs_of(draft, before)
    return StepResult(
        None if draft.evicted else known, outputs, dict(draft.counts), frozenset(ignored)
    )


def _read_heartbeats(draft: Draft, arrivals: Sequence[Arrival]) -> list[tuple[Arrival, Heartbeat]]:
    """Return the heartbeats that were not refused.

    Of those that were nothing is read but whose they are, whatever comes later in the same step.
    """
    refused = {each.source for each in draft.rejections}
    return [
        (arrival, arrival.record)
        for arrival in arrivals
        if isinstance(arrival.record, Heartbeat) and arrival.source not in refused
    ]


def due_ms(state: GroupState, engine: EngineRules) -> int:
    """Return the clock at which the group must be stepped even if none of its records is read."""
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
    if barrier is not None and (looked_at := barrier_due_ms(barrier, rules)) is not None:
        due.append(looked_at)
    return min(due)


def _create(arrivals: Sequence[Arrival], moment: Moment, engine: EngineRules) -> GroupState | None:
    groups = (_created_by(arrival.record, moment, engine) for arrival in arrivals)
    group = next((name for name in groups if name is not None), None)
    if group is None:
        return None
    # A group met before the driver's marker may be one that a newer state knew: it waits as well.
    recovering = moment.recovering or moment.incomplete
    marked = moment.marker >= engine.generation and not _speaks_before(arrivals, moment, engine)
    passed = engine.generation if marked and not recovering else 0
    # A group of this name may have been forgotten: its epochs are not used again.
    return GroupState(
        group, moment.clock_ms, passed, moment.number_floor, recomputed_ms=moment.clock_ms
    )


def _speaks_before(arrivals: Sequence[Arrival], moment: Moment, engine: EngineRules) -> bool:
    """Tell whether somebody has spoken before the marker while an earlier driver may have run.

    The marker may stand in the same batch. Whoever works for an earlier driver was heard by that
    one, so its clock had moved on before the marker.
    """
    if engine.generation == 1 or moment.marker_ms is None:
        return False
    return any(
        arrival.clock_ms < moment.marker_ms
        for arrival in arrivals
        if isinstance(arrival.record, Heartbeat)
    )


def _created_by(record: GroupRecord, moment: Moment, engine: EngineRules) -> str | None:
    """Return the group that a record creates if it is not known; None: it creates none."""
    if isinstance(record, RuleSet | Reset):
        # A reset is remembered until somebody follows it, whether or not anybody is there yet.
        return record.group
    if not (engine.auto_create or _rules_are_unread(moment, engine)):
        return None
    if isinstance(record, Heartbeat):
        return record.group
    if moment.recovering and isinstance(record, Release | Progress):
        # Who speaks of a group after a loss tells that it was there, and perhaps how far it was.
        return record.group
    return None


def _rules_are_unread(moment: Moment, engine: EngineRules) -> bool:
    """Tell whether the rule that made a group may be unread yet: the driver's marker waits for it.

    Who works in such a group speaks once of what it works on: its words are kept until then.
    """
    return 1 < engine.generation > moment.marker


def _is_nobodys(
    state: GroupState, arrivals: Sequence[Arrival], moment: Moment, engine: EngineRules
) -> bool:
    """Tell whether heartbeats alone have made a group, where rules alone may, and all are read."""
    return (
        not engine.auto_create
        and not state.generation
        and may_be_forgotten(state)
        and not _rules_are_unread(moment, engine)
        and not any(isinstance(each.record, RuleSet | Reset) for each in arrivals)
    )


def _forget(draft: Draft, arrivals: Sequence[Arrival]) -> StepResult:
    """Forget a group that nobody has made, as an eviction does, and refuse its records."""
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
    """Remember the rules of all groups that changed for this one, which may have its own."""
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
    state, clock, period = draft.state, draft.moment.clock_ms, draft.rules.trigger_ms
    triggered = clock // period > state.recomputed_ms // period
    if draft.weigh_now:
        weigh_queues(draft, clock)
    weigh_when_due(draft, clock)
    if triggered:
        state.recomputed_ms = clock
    shares = may_share(draft)
    asked = triggered or draft.asked is not None
    asked = asked or draft.dirty or state.allocated_by != allocation_text(draft)
    if asked:
        (compute_targets if shares else keep_targets)(draft)
    # Only now: to a strategy that looks at who owns what, an idle queue is its member's.
    take_anew(draft)
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
    """Whether a group without members holds nothing that an operator said."""
    return not state.rules and not any(value.waits_for_its_reset for value in state.queues.values())


def _tidy(draft: Draft) -> None:
    """Forget the routes that no member needs any more, and after a set time the group itself."""
    state, clock = draft.state, draft.moment.clock_ms
    # A full shard adds no topic: who restarts would not get back what it alone has read.
    may_return = bool(draft.engine.group_bytes and state.tombstones)
    if effective_members(state.members) and not may_return:
        forget_routes(draft, subscribed_topics(state))
    if state.members or state.awaited:
        state.empty_since_ms = None
    elif state.empty_since_ms is None:
        state.empty_since_ms = clock
    elif clock - state.empty_since_ms >= draft.engine.evict_after_ms and may_be_forgotten(state):
        draft.evicted = True
        draft.because("group_evicted")
        if has_retry_topic(state.group, state.routes):
            # Whoever made it may remove it, once nothing in it is left to read.
            retry = own_retry_topic(state.group)
            draft.requests.append(Request(state.group, "forgotten", retry, None, None))
