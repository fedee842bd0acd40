"""Applying one record to the working copy of a group.

Decides what a record changes: membership, positions, resolved grants, routes, rules. What follows
from that (targets, commands) the step decides once, after all records.
"""

from dataclasses import replace
from typing import Final

from fairlead.core.draft import GATE, Draft
from fairlead.core.footing.looks import apply_look
from fairlead.core.footing.take_over import apply_former, note_said
from fairlead.core.handover.chain import Resolved, answer_never, based, progress, release
from fairlead.core.handover.fencing import FENCED, fenced_reason
from fairlead.core.handover.forced_handover import has_ordered
from fairlead.core.handover.pull_idle import note_idle
from fairlead.core.handover.resolution import apply_resolution
from fairlead.core.membership.leaving import apply_leave, note_leaver
from fairlead.core.membership.member_disagreement import kept_profile
from fairlead.core.membership.members import apply_heartbeat, shared_topics, subscribed_topics
from fairlead.core.membership.spoken_for import note_going_on, note_unasked
from fairlead.core.membership.surplus import surplus_of_route, without_room
from fairlead.core.model import NOTHING, Epoch, Route
from fairlead.core.positions.bounds import (
    believe_end,
    counts_unknown_reset,
    doubt,
    is_below_base,
    is_beyond,
    is_doubtful,
    note_bounds,
    refuse_below_base,
    refuse_reset,
    settle_doubts,
)
from fairlead.core.positions.first_position import ROCKETMQ, first_base
from fairlead.core.positions.resets import apply_reset
from fairlead.core.positions.topic_recreated import apply_identity
from fairlead.core.publishing.waiting import apply_absent, note_answer
from fairlead.core.records import (
    Arrival,
    Claims,
    Heartbeat,
    Leave,
    OffsetsKnown,
    Progress,
    Release,
    Reset,
    RouteChanged,
    RuleSet,
    TopicAbsent,
)
from fairlead.core.recovery.barrier import acknowledge_by_beat, apply_claims
from fairlead.core.recovery.remembered import remember_progress, remember_release
from fairlead.core.rules.group_rules import put_rule, rules_of
from fairlead.core.rules.quota import QUOTA
from fairlead.core.rules.rule_cause import cause_of_rule
from fairlead.core.rules.rule_error import RuleError
from fairlead.core.standby_records import Former, MembersLook
from fairlead.core.state import RESET, Grant, QueueState, Spoken
from fairlead.core.targets.queue_measures import measure, weigh_when_due
from fairlead.core.topics.partitions_added import note_growth
from fairlead.core.topics.routes import readable_queues

__all__ = ["KINDS", "apply_record"]

KINDS = {
    Heartbeat: "heartbeat",
    Leave: "leave",
    Progress: "progress",
    Claims: "claims",
    Release: "release",
    RuleSet: "rule",
    Reset: "reset",
    RouteChanged: "route",
    OffsetsKnown: "offsets",
    TopicAbsent: "absent",
    Former: "former",
    MembersLook: "members",
}
"""Record class -> its kind on the wire; counters use these words."""

_BEFORE_ALL: Final = Epoch(0, 1)
"""Older than any grant, but not `NOTHING`: marks a queue as new before the first generation."""


def apply_record(draft: Draft, arrival: Arrival) -> None:
    """Apply one record of the group."""
    match arrival.record:
        case Heartbeat() as beat:
            apply_heartbeat(draft, arrival, beat)
            acknowledge_by_beat(draft, beat)
            note_going_on(draft, arrival, beat)
            note_said(draft, beat)
        case Leave() as leave:
            apply_leave(draft, arrival, leave)
        case Progress() as made:
            _apply_progress(draft, arrival, made)
        case Claims() as claims:
            apply_claims(draft, arrival, claims)
        case Release() as released:
            _apply_release(draft, arrival, released)
        case RouteChanged() as changed:
            _apply_route(draft, arrival, changed)
        case OffsetsKnown() as known:
            _apply_offsets(draft, arrival, known)
        case TopicAbsent() as absent:
            apply_absent(draft, absent)
        case Former() | MembersLook() as told:
            _apply_standing(draft, arrival, told)
        case RuleSet() as rule:
            _apply_rule(draft, arrival, rule)
        case Reset() as wanted:
            apply_reset(draft, arrival, wanted)


def _apply_standing(draft: Draft, arrival: Arrival, told: Former | MembersLook) -> None:
    if isinstance(told, Former):
        apply_former(draft, arrival, told)
        return
    for what, topic in draft.state.requests:
        if what == "members":
            note_answer(draft, what, topic)
    apply_look(draft, arrival, told)


def _apply_progress(draft: Draft, arrival: Arrival, made: Progress) -> None:
    weigh_when_due(draft, arrival.clock_ms)
    remember_progress(draft, made, arrival.clock_ms)
    no_barrier = draft.state.barrier is None
    for entry in made.queues:
        value = draft.state.queues.get(entry.queue)
        ended, beyond, unknown_reset = None, False, False
        if value is not None:
            believed = believe_end(value, entry)
            present = entry.epoch > value.void
            unknown_reset = present and no_barrier and counts_unknown_reset(value, entry.position)
            beyond = present and not unknown_reset and is_beyond(believed, entry.position)
            # A doubtful position does not count yet, but that its member works is certain.
            doubtful = beyond or unknown_reset
            doubtful = doubtful or (not no_barrier and is_doubtful(value, entry.position))
            base = value.base if doubtful else None
            position = entry.position if base is None else base
            ended = progress(believed, made.member, entry.epoch, position)
        draft.counts["progress", "applied" if ended else "stale"] += 1
        if ended is None:
            reason = fenced_reason(draft.state, entry.queue, made.member, entry.epoch)
            draft.counts[FENCED, f"progress/{reason}"] += 1
            continue
        apply_resolution(draft, entry.queue, ended)
        if ended.grants:
            draft.counts[GATE, "by_client"] += 1
        if unknown_reset:
            refuse_reset(draft, arrival, entry, made.member)
        elif beyond:
            doubt(draft, arrival, entry, made.member)
        settle_doubts(draft, entry.queue)
        measure(draft, arrival.clock_ms, entry)
        note_idle(draft, arrival, made.member, entry)


def _apply_release(draft: Draft, arrival: Arrival, released: Release) -> None:
    remember_release(draft, released)
    note_leaver(draft, arrival, released)
    value = draft.state.queues.get(released.queue, QueueState())
    grant = _grant_of(value, released)
    position = released.position
    present = position is not None and grant is not None and released.epoch > value.void
    if position is not None and present and draft.state.barrier is not None:
        # The end of the barrier judges the position that it remembers.
        position = value.base if value.base and is_doubtful(value, position) else position
    elif position is not None and present:
        if counts_unknown_reset(value, position):
            refuse_reset(draft, arrival, released, released.member)
            position = value.base or position
        elif is_beyond(value, position):
            doubt(draft, arrival, released, released.member)
            return
        elif is_below_base(draft, released):
            refuse_below_base(draft, arrival, released)
    ended: Resolved | None
    if position is None:
        ended = answer_never(value, released.member, released.epoch)
    else:
        ended = release(value, released.member, released.epoch, position)
    draft.counts["release", "applied" if ended else "stale"] += 1
    if ended is None:
        reason = fenced_reason(draft.state, released.queue, released.member, released.epoch)
        draft.counts[FENCED, f"release/{reason}"] += 1
        return
    apply_resolution(draft, released.queue, ended)
    draft.because("released", client_id=released.member.client_id, at=arrival.source)
    if grant is not None:
        note_unasked(draft, grant, Spoken(arrival.clock_ms, arrival.source.append_ms))


def _grant_of(value: QueueState, released: Release) -> Grant | None:
    """Return the grant that a release ends; None: it is resolved, or never was."""
    member, epoch = released.member, released.epoch
    return next((one for one in value.grants if (one.member, one.epoch) == (member, epoch)), None)


def _apply_route(draft: Draft, arrival: Arrival, changed: RouteChanged) -> None:
    state = draft.state
    note_answer(draft, "route", changed.topic)
    note_answer(draft, "retry", changed.topic)
    known = state.routes.get(changed.topic)
    route = changed.route
    if known is None and (route is None or changed.topic not in subscribed_topics(state)):
        # Routes come before heartbeats: for a topic subscribed in this very step, the group asks.
        return
    if route is None and known is not None:
        # The identity stays known, so that a topic created again under the name is another one.
        route = replace(known, brokers=())
    if route is None or route == known:
        draft.counts["route", "duplicate"] += 1
        return
    if _is_refused(draft, arrival, known, route):
        draft.counts["route", "rejected"] += 1
        return
    draft.counts["route", "applied"] += 1
    draft.because("route_changed", topic=changed.topic, at=arrival.source)
    draft.dirty = True
    state.routes[changed.topic] = route
    former = None if known is None else known.identity
    # A queue of this name may have been another one, which its former holders still report.
    void = draft.last_epoch()
    if state.barrier is not None and former != route.identity:
        # This state may not know every grant: all earlier ones are void.
        void = max(void, Epoch(state.barrier.generation, 0))
    apply_identity(draft, route, former, void, arrival.source.append_ms)
    void = NOTHING if known is None else max(void, _BEFORE_ALL)
    # For RocketMQ a queue that is added later is like any other.
    added = known is not None and draft.rules.start_policy != ROCKETMQ
    late = (
        added
        or (known is not None and former != route.identity)
        or state.recovering
        or changed.topic in state.late_topics
    )
    if former not in (None, route.identity):
        state.late_topics = tuple(topic for topic in state.late_topics if topic != changed.topic)
    # Also while nobody shares the topic: its new queues must be late once somebody does.
    shared = (
        changed.topic in shared_topics(state)
        or state.recovering
        or any(queue.topic == changed.topic for queue in state.queues)
    )
    brought = [queue for queue in readable_queues(route) if shared and queue not in state.queues]
    grown = known is not None and changed.topic not in state.remade
    for queue in brought:
        draft.set_queue(queue, QueueState(late=late, void=void, grown=grown))
    if brought and draft.engine.switch_ms:
        # An open request does not name these queues, and may not be repeated for long.
        asked = ("offsets", changed.topic)
        state.requests = {key: each for key, each in state.requests.items() if key != asked}
    if known is not None:
        note_growth(draft, changed.topic, arrival.clock_ms)


def _is_refused(draft: Draft, arrival: Arrival, known: Route | None, route: Route) -> bool:
    if without_room(draft, [route.topic]):
        # Without a dead letter: every group of a full shard that reads the topic is refused.
        return True
    surplus = surplus_of_route(draft, known, route)
    if surplus is None:
        return False
    reason, field_path, *texts = surplus
    draft.reject(arrival, reason, field_path, (texts[0], texts[1]))
    return True


def _apply_offsets(draft: Draft, arrival: Arrival, known: OffsetsKnown) -> None:
    state = draft.state
    note_answer(draft, "offsets", known.topic)
    route = state.routes.get(known.topic)
    if route is not None and route.identity == known.identity:
        note_bounds(draft, arrival, known)
    # In a barrier nobody knows yet who has worked: today's bounds may lie behind that, and an old
    # answer among a recovery's records far behind what was committed.
    if route is None or route.identity != known.identity or state.barrier is not None:
        draft.counts["offsets", "stale"] += 1
        return
    draft.counts["offsets", "applied"] += 1
    profiles = [
        member.profile
        for _, member in sorted(state.members.items())
        if member.shares and known.topic in member.topics
    ]
    if not profiles:
        return
    profile = kept_profile(state, profiles[0])
    for entry in known.queues:
        value = state.queues.get(entry.queue)
        if value is None or value.base is not None or value.doubts:
            continue
        start = first_base(value, entry, profile, draft.rules.start_policy)
        if start is None and value.asked is not None:
            start = value.asked, RESET
        if start is not None:
            draft.set_queue(entry.queue, based(value, *start))
            draft.because("offsets_known", topic=known.topic, at=arrival.source)


def _apply_rule(draft: Draft, arrival: Arrival, rule: RuleSet) -> None:
    before = draft.state.rules
    try:
        after = put_rule(before, rule, draft.rules, draft.engine.strategies)
        _check_mode(draft, rule)
    except RuleError as error:
        draft.counts["rule", "rejected"] += 1
        draft.reject(arrival, error.reason, error.field_path, (error.detail, error.remedy))
        return
    if before == after:
        draft.counts["rule", "duplicate"] += 1
        return
    draft.counts["rule", "applied"] += 1
    draft.state.rules = after
    draft.rules = rules_of(draft.state.rules, draft.engine)
    draft.because_of(cause_of_rule(rule, arrival.source))
    draft.dirty = draft.weigh_now = True
    draft.ask_routes |= rule.rule == QUOTA


def _check_mode(draft: Draft, rule: RuleSet) -> None:
    """Refuse an eager handover in a group with a member that wants its messages in order."""
    if rule.rule == "mode" and rule.value == "eager" and has_ordered(draft.state):
        detail = "a member of the group wants its messages in order"
        remedy = "leave the group cooperative, or let its clients ask for no order"
        raise RuleError("", detail, remedy)
