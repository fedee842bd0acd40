"""How one member of a group stands: what it reports, what it has, and why it has nothing.

A silent member counts until the engine takes its queues; so does a client that is gone and whose
return is awaited.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fairlead.core.membership.members import effective_members
from fairlead.core.model import Epoch, MemberKey, MemberProfile
from fairlead.core.ordering import java_order
from fairlead.core.rules.single_rules import drained_of
from fairlead.core.state import Member
from fairlead.counts import counted
from fairlead.durations import duration_words
from fairlead.observed.live_group import LiveGroup
from fairlead.observed.phase_words import NATIVE_PHASES, PHASES
from fairlead.observed.queue_standing import QueueStanding
from fairlead.observed.unrouted import lacks_route

__all__ = ["MemberStanding", "member_standings"]


@dataclass(frozen=True, slots=True)
class MemberStanding:
    """One member.

    Attributes:
        key: who.
        profile: what it says of itself; None: no heartbeat of it was read.
        role: ``consumes``, ``idle``, ``drained``, ``not_designated``, ``broadcasts``, ``leaving``,
            ``superseded`` (a newer process has its client id), ``awaited`` (it is gone and its
            queues are kept for it) or ``silent`` (it does not heartbeat any more).
        why: the reason for a role that is not plain, a sentence without a point.
        since_ms: since when it heartbeats without a gap of a lease, as far as was read.
        heard_ms: when its newest heartbeat was appended.
        lease_left_ms: how long its lease still runs; below 0 it has stopped by itself.
        held: how many queues it works on.
        draining: how many it has to give up.
        gated: how many it waits for.
        told: the epoch of its newest assignment; None: it has none.
        applied: the newest epoch that it has read.
        behind: it has not read its assignment, or holds something else.
    """

    key: MemberKey
    profile: MemberProfile | None
    role: str
    why: str
    since_ms: int | None
    heard_ms: int | None
    lease_left_ms: int | None
    held: int
    draining: int
    gated: int
    told: Epoch | None
    applied: Epoch | None
    behind: bool

    @property
    def unplaced(self) -> bool:
        """Whether it heartbeats to share queues, and no decision has placed it yet."""
        sharing = ("consumes", "idle", "drained", "not_designated")
        return self.told is None and self.role in sharing

    @property
    def ordered(self) -> bool:
        """Whether it wants its messages in order."""
        return self.profile is not None and self.profile.ordered

    @property
    def live(self) -> bool:
        """Whether it heartbeats."""
        return self.role not in ("awaited", "silent")

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        profile = self.profile
        return {
            "client_id": self.key.client_id,
            "incarnation": self.key.incarnation,
            "role": self.role,
            "says": self.why or None,
            "address": profile and profile.address,
            "zone": profile and profile.zone,
            "capacity": profile and profile.capacity,
            "language": profile and profile.language,
            "version": profile and profile.version,
            "consume_type": profile and profile.consume_type,
            "message_model": profile and profile.message_model,
            "heard_ms": self.heard_ms,
            "lease_ms": profile and profile.lease_ms,
            "lease_left_ms": self.lease_left_ms,
            "queues_held": self.held,
            "queues_draining": self.draining,
            "queues_gated": self.gated,
            "assigned_epoch": None if self.told is None else [*self.told],
            "applied_epoch": None if self.applied is None else [*self.applied],
            "behind": self.behind,
        }


def member_standings(
    live: LiveGroup, queues: Iterable[QueueStanding], now_ms: int
) -> tuple[MemberStanding, ...]:
    """Return every member, sorted by client id.

    Args:
        live: the group.
        queues: how its queues stand.
        now_ms: until when silence counts.
    """
    counts = _counts(queues)
    state, heard = live.core.state, live.observed.members.heard
    # A leaving member counts until the engine has removed its assignment.
    keys = {key for key, each in state.members.items() if not each.leaving or key in live.assigned}
    keys |= {each.member.key for each in state.awaited.values()}
    keys |= {key for key, assigned in live.assigned.items() if assigned.entries or key in heard}
    members = [_standing(live, key, counts.get(key, Counter()), now_ms) for key in keys]
    return tuple(sorted(members, key=lambda each: (java_order(each.key.client_id), each.key)))


def _counts(queues: Iterable[QueueStanding]) -> Mapping[MemberKey, Counter[str]]:
    counts: dict[MemberKey, Counter[str]] = {}
    for queue in queues:
        for word in ("held", "draining", "gated"):
            for holder in getattr(queue, word):
                counts.setdefault(holder.member, Counter())[word] += 1
    return counts


def _standing(live: LiveGroup, key: MemberKey, counts: Counter[str], now_ms: int) -> MemberStanding:
    member = live.core.state.members.get(key)
    beat = live.observed.members.heard.get(key)
    profile = None if beat is None else beat.member.profile
    heard_ms = None if beat is None else beat.heard_ms
    assigned = live.assigned.get(key)
    since_ms = None if beat is None else beat.since_ms
    role, why = _role(live, key, member, counts, None if since_ms is None else now_ms - since_ms)
    lease_left_ms = None
    if profile is not None and heard_ms is not None:
        lease_left_ms = profile.lease_ms - max(now_ms - heard_ms, 0)
    standing = MemberStanding(
        key,
        profile,
        role,
        why,
        since_ms,
        heard_ms,
        lease_left_ms,
        counts["held"],
        counts["draining"],
        counts["gated"],
        None if assigned is None else assigned.epoch,
        None if beat is None else beat.applied,
        behind=False,
    )
    if not standing.live or beat is None:
        return standing
    return replace(standing, behind=live.observed.is_behind(beat))


def _role(
    live: LiveGroup,
    key: MemberKey,
    member: Member | None,
    counts: Counter[str],
    beaten_ms: int | None,
) -> tuple[str, str]:
    state = live.core.state
    if member is None:
        return _gone(live, key)
    if member.leaving:
        return "leaving", "it has announced its leave"
    if effective_members(state.members).get(key.client_id, member).key != key:
        return "superseded", "a newer process of this client id counts"
    if not member.shares:
        return "broadcasts", "it reads every queue and shares none"
    if key.client_id in drained_of(live.core.rules.single):
        return "drained", "a rule drains it: it gives up every queue and gets none"
    designated = live.core.rules.designated
    named = designated is None or designated.entries.names(key.client_id)
    targets = sum(owner == key.client_id for owner in live.planned.owners.values())
    if not named and not targets:
        return "not_designated", "a rule designates other clients (designated)"
    if counts["held"] or counts["draining"] or counts["gated"]:
        return "consumes", ""
    return "idle", next(_why_idle(live, member, targets, beaten_ms))


def _gone(live: LiveGroup, key: MemberKey) -> tuple[str, str]:
    awaited = live.core.state.awaited.get(key.client_id)
    if awaited is not None and awaited.member.key == key:
        return "awaited", "it is gone; its queues are kept until it returns (restart_grace_ms)"
    return "silent", "it sends no heartbeats any more; the engine takes its queues"


def _why_idle(
    live: LiveGroup, member: Member, targets: int, beaten_ms: int | None
) -> Iterator[str]:
    state, rules = live.core.state, live.core.rules
    topics, lease_ms = sorted(member.topics), max(rules.lease_ms, member.profile.lease_ms)
    if member.key not in live.assigned and beaten_ms is not None and beaten_ms > lease_ms:
        # Whatever else is so, a working engine would have written it an assignment.
        yield f"it has heartbeat for {duration_words(beaten_ms)} and has no assignment yet"
    if not topics:
        yield "it subscribes to nothing"
    newest = live.observed.decided.newest
    if newest is not None and newest.phase in NATIVE_PHASES:
        # The engine's own words name who is not attached, or what else it waits for.
        yield live.observed.assignments.waiting.get(member.key, PHASES[newest.phase])
    unknown = [each for each in topics if lacks_route(state.group, each, state.routes, rules)]
    if unknown:
        yield f"the route of {', '.join(unknown)} is unknown"
    if targets:
        yield f"it gets {targets} in the next decision"
    if rules.pause:
        yield "the group is paused: no queue moves"
    if member.key not in live.assigned:
        yield "it has just joined and has no assignment yet"
    sharers = len(live.planned.members)
    queues = sum(queue.topic in member.topics for queue in live.planned.queues)
    if queues < sharers:
        yield f"{sharers} members share {counted(queues, 'queue')}: there is none left"
    if rules.react == "on_tick":
        yield "it gets queues at the next trigger (react on_tick)"
    yield f"{rules.strategy} gives it none"
