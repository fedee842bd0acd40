"""What can be seen of one group, to tell whether anything is wrong with it, and with what."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.ordering import java_order, queue_order
from fairlead.core.rules.group_rules import GroupRules
from fairlead.observed.engine_life import EngineLife
from fairlead.observed.members import Heard
from fairlead.observed.problems import Deaf, Drain, Signs, Silence, Unanswered
from fairlead.observed.restarts import PROCESSES_MAX, Beat, restarting
from fairlead.observed.unrouted import lacks_route

if TYPE_CHECKING:
    from fairlead.observed.observed_group import ObservedGroup
    from fairlead.observed.standing import Standing

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
    live = _live(group)
    alarms = () if newest is None else newest.alarms
    return Signs(
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
        disagreements=standing.roll.disagreements,
        duplicates=_duplicates(live),
        unsafe=newest is not None and newest.counts.unsafe > 0,
        drains=tuple(_drains(group, live, rules, engine.now_ms)),
        deaf=tuple(_deaf(group, live, rules, engine.now_ms)),
        failed="allocation_failed" in alarms,
        silences=tuple(_silences(group, live, rules, engine.now_ms)),
        unanswered=tuple(_unanswered(group, standing, engine)),
        restarting=restarting(_beats(group), engine.now_ms),
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
    """Return for how long the group has been in its phase; None: longer than was read."""
    since_ms = group.phase_since_ms
    return None if since_ms is None else now_ms - since_ms


def _overlaps(
    group: "ObservedGroup", live: dict[MemberKey, Heard]
) -> dict[MessageQueue, tuple[MemberKey, ...]]:
    shared = group.holds.shared_twice
    found = {
        queue: tuple(sorted(member for member in shared[queue] if member in live))
        for queue in sorted(shared, key=queue_order)
    }
    return {queue: members for queue, members in found.items() if len(members) > 1}


def _unassigned(group: "ObservedGroup", standing: "Standing") -> tuple[MessageQueue, ...]:
    """Return which queues nobody has, if the engine has said so: else it has yet to act."""
    newest = group.decided.newest
    if standing.phase in _UNDECIDED or (newest is not None and not newest.counts.unassigned):
        return ()
    if any(group.is_settled(heard) is None for heard in standing.roll.members.values()):
        return ()
    return tuple(standing.ownerless())


def _unrouted(group: "ObservedGroup", standing: "Standing") -> tuple[str, ...]:
    roll, routes = standing.roll, group.around.routes
    if not roll.members or roll.model != "clustering":
        return ()
    return tuple(
        topic for topic in roll.topics if lacks_route(group.name, topic, routes, group.rules)
    )


def _duplicates(live: dict[MemberKey, Heard]) -> dict[str, int]:
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
    group: "ObservedGroup", live: dict[MemberKey, Heard], rules: GroupRules, now_ms: int
) -> Iterator[Drain]:
    asked: dict[MemberKey, dict[MessageQueue, int | None]] = {}
    contested = group.holds.contested
    for queue in sorted(contested, key=queue_order):
        for share in contested[queue]:
            if share.state == "draining":
                asked.setdefault(share.member, {})[queue] = group.since_ms(queue, share)
    for holder, given_up in sorted(asked.items()):
        since = [each for each in given_up.values() if each is not None]
        yield Drain(
            member=holder,
            queues=tuple(given_up),
            asked_ms=None if len(since) < len(given_up) else now_ms - min(since),
            lease_ms=_lease_ms(group.members.heard.get(holder), rules),
            muted=holder.client_id in group.decided.muted,
            lives=holder in live,
        )


def _deaf(
    group: "ObservedGroup", live: dict[MemberKey, Heard], rules: GroupRules, now_ms: int
) -> Iterator[Deaf]:
    for key, heard in live.items():
        if not group.is_behind(heard):
            continue
        told = group.told.sets[key]
        # Its record is written again and again to heal it, under the same epoch.
        decided_ms = next(
            (each.append_ms for each in group.decided.history if each.epoch == told.epoch),
            told.at_ms,
        )
        yield Deaf(key, now_ms - decided_ms, _lease_ms(heard, rules))


def _silences(
    group: "ObservedGroup", live: dict[MemberKey, Heard], rules: GroupRules, now_ms: int
) -> Iterator[Silence]:
    for key, told in group.told.sets.items():
        if key not in live and told.entries:
            heard = group.members.heard.get(key)
            silent_ms = None if heard is None else now_ms - heard.heard_ms
            yield Silence(key, silent_ms, _lease_ms(heard, rules))


def _unanswered(
    group: "ObservedGroup", standing: "Standing", engine: EngineLife
) -> Iterator[Unanswered]:
    for heard in standing.roll.members.values():
        key = heard.member.key
        if heard.member.shares and key not in group.told.sets:
            waited_ms = engine.now_ms - heard.since_ms
            yield Unanswered(key, waited_ms, _lease_ms(heard, group.rules), engine.tick_ms)


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
