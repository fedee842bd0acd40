"""What can be seen of one group, as input for deciding what is wrong with it."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.ordering import java_order, queue_order
from fairlead.core.rules.group_rules import GroupRules
from fairlead.observed.engine_liveness import EngineLiveness
from fairlead.observed.members import HeardMember
from fairlead.observed.problems import (
    BehindMember,
    PendingDrain,
    ProblemInputs,
    SilentMember,
    UnansweredMember,
)
from fairlead.observed.restarts import PROCESSES_MAX, Beat, restarting
from fairlead.observed.unrouted import lacks_route

if TYPE_CHECKING:
    from fairlead.observed.observed_group import ObservedGroup
    from fairlead.observed.standing import Standing

__all__ = ["problem_inputs"]

_UNDECIDED: Final = frozenset(
    (
        *("unknown", "recovering", "quarantined", "barrier", "settling"),
        *("waiting_for_route", "waiting_for_offsets"),
    )
)
"""Phases in which the engine has yet to decide who gets the ownerless queues."""


def problem_inputs(group: "ObservedGroup", engine: EngineLiveness, lag: int) -> ProblemInputs:
    """Return what can be seen of a group.

    Args:
        group: the group.
        engine: whether one runs for it; every duration ends at its ``now_ms``.
        lag: how many messages wait, as far as is known.
    """
    standing, newest, rules = group.standing(), group.decided.newest, group.rules
    live = _live(group)
    alarms = () if newest is None else newest.alarms
    return ProblemInputs(
        rules=rules,
        engine_silent=engine.silent,
        members=len(live),
        lag=lag,
        phase=standing.phase,
        phase_ms=_phase_ms(group, engine.now_ms),
        alarms=alarms,
        overlaps=_overlaps(group, live),
        unassigned=_unassigned(group, standing),
        unrouted=_unrouted(group, standing),
        disagreements=standing.live_members.disagreements,
        duplicates=_duplicates(live),
        unsafe=newest is not None and newest.counts.unsafe > 0,
        drains=tuple(_drains(group, live, rules, engine.now_ms)),
        behind=tuple(_behind(group, live, rules, engine.now_ms)),
        failed="allocation_failed" in alarms,
        silent=tuple(_silent(group, live, rules, engine.now_ms)),
        unanswered=tuple(_unanswered(group, standing, engine)),
        restarting=restarting(_beats(group), engine.now_ms),
        released=group.release is not None,
    )


def _live(group: "ObservedGroup") -> dict[MemberKey, HeardMember]:
    """Return the members that heartbeat; one that leaves and has nothing left is gone."""
    members, clock_ms = group.members, group.facts.clock_ms(group.name)
    return {
        key: heard
        for key, heard in members.heard.items()
        if members.is_live(heard, clock_ms, group.rules)
        and (not heard.member.leaving or key in group.assignments.sets)
    }


def _phase_ms(group: "ObservedGroup", now_ms: int) -> int | None:
    """Return how long the group has been in its phase; None: longer than was read."""
    since_ms = group.phase_since_ms
    return None if since_ms is None else now_ms - since_ms


def _overlaps(
    group: "ObservedGroup", live: dict[MemberKey, HeardMember]
) -> dict[MessageQueue, tuple[MemberKey, ...]]:
    shared = group.ownership.shared_twice
    holders = {
        queue: tuple(sorted(member for member in shared[queue] if member in live))
        for queue in sorted(shared, key=queue_order)
    }
    return {queue: members for queue, members in holders.items() if len(members) > 1}


def _unassigned(group: "ObservedGroup", standing: "Standing") -> tuple[MessageQueue, ...]:
    """Return the ownerless queues; none while the engine has yet to act."""
    newest = group.decided.newest
    if standing.phase in _UNDECIDED or (newest is not None and not newest.counts.unassigned):
        return ()
    if any(group.is_settled(heard) is None for heard in standing.live_members.members.values()):
        return ()
    return tuple(standing.ownerless())


def _unrouted(group: "ObservedGroup", standing: "Standing") -> tuple[str, ...]:
    live_members, routes = standing.live_members, group.facts.routes
    if not live_members.members or live_members.model != "clustering":
        return ()
    return tuple(
        topic
        for topic in live_members.topics
        if lacks_route(group.name, topic, routes, group.rules)
    )


def _duplicates(live: dict[MemberKey, HeardMember]) -> dict[str, int]:
    processes = {
        (key.client_id, heard.member.process)
        for key, heard in live.items()
        if not heard.member.leaving
    }
    counts = Counter(client_id for client_id, _ in processes)
    return {
        client_id: counts[client_id]
        for client_id in sorted(counts, key=java_order)
        if counts[client_id] > 1
    }


def _drains(
    group: "ObservedGroup", live: dict[MemberKey, HeardMember], rules: GroupRules, now_ms: int
) -> Iterator[PendingDrain]:
    asked: dict[MemberKey, dict[MessageQueue, int | None]] = {}
    contested = group.ownership.contested
    for queue in sorted(contested, key=queue_order):
        for share in contested[queue]:
            if share.state == "draining":
                asked.setdefault(share.member, {})[queue] = group.since_ms(queue, share)
    for holder, given_up in sorted(asked.items()):
        since = [each for each in given_up.values() if each is not None]
        yield PendingDrain(
            member=holder,
            queues=tuple(given_up),
            asked_ms=None if len(since) < len(given_up) else now_ms - min(since),
            lease_ms=_lease_ms(group.members.heard.get(holder), rules),
            muted=holder.client_id in group.decided.muted,
            lives=holder in live,
        )


def _behind(
    group: "ObservedGroup", live: dict[MemberKey, HeardMember], rules: GroupRules, now_ms: int
) -> Iterator[BehindMember]:
    for key, heard in live.items():
        if not group.is_behind(heard):
            continue
        assigned = group.assignments.sets[key]
        # The engine writes the record again and again to heal it, under the same epoch.
        decided_ms = next(
            (each.append_ms for each in group.decided.history if each.epoch == assigned.epoch),
            assigned.at_ms,
        )
        yield BehindMember(key, now_ms - decided_ms, _lease_ms(heard, rules))


def _silent(
    group: "ObservedGroup", live: dict[MemberKey, HeardMember], rules: GroupRules, now_ms: int
) -> Iterator[SilentMember]:
    for key, assigned in group.assignments.sets.items():
        if key not in live and assigned.entries:
            heard = group.members.heard.get(key)
            silent_ms = None if heard is None else now_ms - heard.heard_ms
            yield SilentMember(key, silent_ms, _lease_ms(heard, rules))


def _unanswered(
    group: "ObservedGroup", standing: "Standing", engine: EngineLiveness
) -> Iterator[UnansweredMember]:
    for heard in standing.live_members.members.values():
        key = heard.member.key
        if heard.member.shares and key not in group.assignments.sets:
            waited_ms = engine.now_ms - heard.since_ms
            yield UnansweredMember(key, waited_ms, _lease_ms(heard, group.rules), engine.tick_ms)


def _beats(group: "ObservedGroup") -> Iterator[Beat]:
    members = group.members.heard
    if len(members) - len({key.client_id for key in members}) < PROCESSES_MAX:
        # No client has had so many incarnations; that holds for nearly every group.
        return
    for key, heard in members.items():
        yield Beat(key.client_id, heard.member.process, heard.heard_ms)


def _lease_ms(heard: HeardMember | None, rules: GroupRules) -> int:
    own = 0 if heard is None else heard.member.profile.lease_ms
    return max(own, rules.lease_ms)
