"""What can be seen of one group among all, to tell whether anything is wrong with it.

Decides what the view of all groups tells to `fairlead.observed.problems`. A check looks closer at
one group, through the engine's own functions; what it finds there is found here by what is kept of
every group, so that a list of thousands costs no more.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.rules import GroupRules
from fairlead.observed.engine_life import EngineLife
from fairlead.observed.members import Heard
from fairlead.observed.problems import Deaf, Drain, Signs, Silence, Unanswered
from fairlead.observed.restarts import PROCESSES_MAX, Beat, restarting
from fairlead.observed.unrouted import lacks_route

if TYPE_CHECKING:
    from fairlead.observed.group_metrics import Standing
    from fairlead.observed.observed_group import ObservedGroup

__all__ = ["signs_of"]

_UNDECIDED: Final = frozenset(
    (
        *("unknown", "recovering", "quarantined", "barrier", "settling"),
        *("waiting_for_route", "waiting_for_offsets"),
    )
)
"""Phases in which the engine has yet to say who gets the queues that nobody has."""


def signs_of(group: "ObservedGroup", engine: EngineLife, lag: int) -> Signs:
    """Return what can be seen of a group.

    Args:
        group: the group.
        engine: whether one runs for it; its time is that up to which everything lasts.
        lag: how many messages wait, as far as is known.
    """
    standing, newest, rules = group.standing(), group.decided.newest, group.rules
    roll, live = standing.roll, _live(group)
    alarms = () if newest is None else newest.alarms
    return Signs(
        rules=rules,
        engine_silent=engine.silent,
        members=len(live),
        lag=lag,
        phase=standing.phase,
        phase_ms=_phase_ms(group, engine.now_ms) if standing.phase == "barrier" else 0,
        alarms=alarms,
        overlap=_overlaps(group, live),
        unassigned=_unassigned(group, standing),
        unrouted=_unrouted(group, standing),
        disagree=roll.disagree,
        duplicate=_duplicates(live),
        unsafe=newest is not None and newest.counts.unsafe > 0,
        drains=tuple(_drains(group, live, rules, engine.now_ms)),
        deaf=tuple(_deaf(group, live, rules, engine.now_ms)),
        failed="allocation_failed" in alarms,
        silences=tuple(_silences(group, live, rules, engine.now_ms)),
        unanswered=tuple(_unanswered(group, standing, engine)),
        restarting=bool(restarting(_beats(group), engine.now_ms)),
        released=group.release is not None,
    )


def _live(group: "ObservedGroup") -> dict[MemberKey, Heard]:
    """Return who heartbeats; who leaves and has nothing left is gone, though its lease runs."""
    members, clock_ms = group.members, group.around.clock_ms(group.name)
    return {
        key: heard
        for key, heard in members.heard.items()
        if members.is_live(heard, clock_ms, group.rules)
        and (not heard.member.leaving or key in group.told.sets)
    }


def _phase_ms(group: "ObservedGroup", now_ms: int) -> int | None:
    """Return for how long the newest decisions have been of one phase; None: all of them are."""
    since_ms = None
    for decision in reversed(group.decided.history):
        newest = group.decided.newest
        if newest is None or decision.phase != newest.phase:
            return None if since_ms is None else now_ms - since_ms
        since_ms = decision.append_ms
    return None


def _overlaps(group: "ObservedGroup", live: dict[MemberKey, Heard]) -> bool:
    shared = group.holds.shared_twice
    return any(sum(member in live for member in members) > 1 for members in shared.values())


def _unassigned(group: "ObservedGroup", standing: "Standing") -> int:
    """Return how many queues nobody has, if the engine has said so: else it has yet to act."""
    newest = group.decided.newest
    if standing.phase in _UNDECIDED or (newest is not None and not newest.counts.unassigned):
        return 0
    if any(group.is_settled(heard) is None for heard in standing.roll.members.values()):
        return 0
    return sum(standing.unassigned.values())


def _unrouted(group: "ObservedGroup", standing: "Standing") -> int:
    roll, routes = standing.roll, group.around.routes
    if not roll.members or roll.model != "clustering":
        return 0
    return sum(lacks_route(group.name, topic, routes, group.rules) for topic in roll.topics)


def _duplicates(live: dict[MemberKey, Heard]) -> bool:
    processes = {
        (key.client_id, heard.member.process)
        for key, heard in live.items()
        if not heard.member.leaving
    }
    return len({client_id for client_id, _ in processes}) < len(processes)


def _drains(
    group: "ObservedGroup", live: dict[MemberKey, Heard], rules: GroupRules, now_ms: int
) -> Iterator[Drain]:
    queues: dict[MemberKey, list[MessageQueue]] = {}
    for queue in group.holds.contested:
        holder = group.holds.queues[queue].holder
        if holder is not None:
            queues.setdefault(holder, []).append(queue)
    newest = group.decided.newest
    muted = newest is not None and "mute_member" in newest.alarms
    for holder, given_up in queues.items():
        places = [
            (queue, grant.epoch)
            for queue in given_up
            for grant in group.decided.grants.get(queue, ())
            if grant.stage == "dropped" and grant.client_id == holder.client_id
        ]
        asked = [group.watch.dropped[place] for place in places if place in group.watch.dropped]
        told = group.told.sets.get(holder)
        if told is not None and newest is not None and told.epoch > newest.epoch:
            # A set may be read before the decision that it comes of: that is none of long ago.
            asked += [told.at_ms] * (len(given_up) - len(asked))
        yield Drain(
            asked_ms=None if len(asked) < len(given_up) else now_ms - min(asked),
            lease_ms=_lease_ms(group.members.heard.get(holder), rules),
            muted=muted and any(place in group.watch.late for place in places),
            lives=holder in live,
        )


def _deaf(
    group: "ObservedGroup", live: dict[MemberKey, Heard], rules: GroupRules, now_ms: int
) -> Iterator[Deaf]:
    for key, heard in live.items():
        told = group.told.sets.get(key)
        if told is None:
            continue
        if not group.is_behind(heard):
            continue
        decided_ms = next(
            (each.append_ms for each in group.decided.history if each.epoch == told.epoch),
            told.at_ms,
        )
        yield Deaf(now_ms - decided_ms, _lease_ms(heard, rules))


def _silences(
    group: "ObservedGroup", live: dict[MemberKey, Heard], rules: GroupRules, now_ms: int
) -> Iterator[Silence]:
    for key, told in group.told.sets.items():
        if key not in live and told.entries:
            heard = group.members.heard.get(key)
            silent_ms = None if heard is None else now_ms - heard.heard_ms
            yield Silence(silent_ms, _lease_ms(heard, rules))


def _unanswered(
    group: "ObservedGroup", standing: "Standing", engine: EngineLife
) -> Iterator[Unanswered]:
    for heard in standing.roll.members.values():
        if heard.member.shares and heard.member.key not in group.told.sets:
            waited_ms = engine.now_ms - heard.since_ms
            yield Unanswered(waited_ms, _lease_ms(heard, group.rules), engine.tick_ms)


def _beats(group: "ObservedGroup") -> Iterator[Beat]:
    members = group.members.heard
    if len(members) - len({key.client_id for key in members}) < PROCESSES_MAX:
        # No client has had so many lives, as in nearly every group of thousands.
        return
    for key, heard in members.items():
        yield Beat(key.client_id, heard.member.process, heard.heard_ms)


def _lease_ms(heard: Heard | None, rules: GroupRules) -> int:
    own = 0 if heard is None else heard.member.profile.lease_ms
    return max(own, rules.lease_ms)
