"""Where one member of a group stands: what it says of itself, what it has, and why it has nothing.

A member that was told to hold something and does not heartbeat any more is one too, until the
engine takes its queues; so is a client that is gone and waited for.
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
            ``superseded`` (another process has its client id), ``awaited`` (it is gone and its
            queues are kept for it) or ``silent`` (it does not heartbeat any more).
        why: of what is not plain, in a sentence without a point.
        since_ms: since when it heartbeats without a break of a lease, as far as was read.
        heard_ms: when its newest heartbeat was appended.
        lease_left_ms: how long it may go on without another one; below 0 it has stopped by itself.
        held: queues that it works on.
        draining: that it was told to give up.
        gated: that it waits for.
        told: the epoch of what it was told last; None: it was not told anything.
        applied: the newest epoch that it has read.
        behind: it has not read what it was told, or holds something else.
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
        """Whether it heartbeats to share, and no decision has told it anything yet."""
        sharing = ("consumes", "idle", "drained", "not_designated")
        return self.told is None and self.role in sharing

    @property
    def live(self) -> bool:
        """Whether it heartbeats."""
        return self.role not in ("awaited", "silent")

    def document(self) -> dict[str, Any]:
        """Return JSON values."""
        said = self.profile
        return {
            "client_id": self.key.client_id,
            "incarnation": self.key.incarnation,
            "role": self.role,
            "says": self.why or None,
            "address": said and said.address,
            "zone": said and said.zone,
            "capacity": said and said.capacity,
            "language": said and said.language,
            "version": said and said.version,
            "consume_type": said and said.consume_type,
            "message_model": said and said.message_model,
            "heard_ms": self.heard_ms,
            "lease_ms": said and said.lease_ms,
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
    """Return every member, in the order of client ids.

    Args:
        live: the group.
        queues: where its queues stand.
        now_ms: up to when they are silent.
    """
    counts = _counts(queues)
    state, heard = live.core.state, live.observed.members.heard
    # Who leaves is one until the engine has taken its record away.
    keys = {key for key, each in state.members.items() if not each.leaving or key in live.told}
    keys |= {each.member.key for each in state.awaited.values()}
    keys |= {key for key, told in live.told.items() if told.entries or key in heard}
    found = [_standing(live, key, counts.get(key, Counter()), now_ms) for key in keys]
    return tuple(sorted(found, key=lambda each: (java_order(each.key.client_id), each.key)))


def _counts(queues: Iterable[QueueStanding]) -> Mapping[MemberKey, Counter[str]]:
    found: dict[MemberKey, Counter[str]] = {}
    for queue in queues:
        for word in ("held", "draining", "gated"):
            for holder in getattr(queue, word):
                found.setdefault(holder.member, Counter())[word] += 1
    return found


def _standing(live: LiveGroup, key: MemberKey, counts: Counter[str], now_ms: int) -> MemberStanding:
    member = live.core.state.members.get(key)
    beat = live.observed.members.heard.get(key)
    profile = None if beat is None else beat.member.profile
    heard_ms = None if beat is None else beat.heard_ms
    told = live.told.get(key)
    since_ms = None if beat is None else beat.since_ms
    role, why = _role(live, key, member, counts, None if since_ms is None else now_ms - since_ms)
    lease_left_ms = None
    if profile is not None and heard_ms is not None:
        lease_left_ms = profile.lease_ms - max(now_ms - heard_ms, 0)
    found = MemberStanding(
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
        None if told is None else told.epoch,
        None if beat is None else beat.applied,
        behind=False,
    )
    if not found.live or beat is None:
        return found
    return replace(found, behind=live.observed.is_behind(beat))


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
        return "leaving", "it has said that it leaves"
    if effective_members(state.members).get(key.client_id, member).key != key:
        return "superseded", "another process of this client id is newer, and counts"
    if not member.shares:
        return "broadcasts", "it reads every queue by itself and has no share"
    if key.client_id in drained_of(live.core.rules.single):
        return "drained", "a rule says so: it gives everything away and gets nothing"
    designated = live.core.rules.designated
    named = designated is None or designated.entries.names(key.client_id)
    targets = sum(owner == key.client_id for owner in live.picture.owners.values())
    if not named and not targets:
        return "not_designated", "a rule lets others alone consume (designated)"
    if counts["held"] or counts["draining"] or counts["gated"]:
        return "consumes", ""
    return "idle", next(_why_idle(live, member, targets, beaten_ms))


def _gone(live: LiveGroup, key: MemberKey) -> tuple[str, str]:
    awaited = live.core.state.awaited.get(key.client_id)
    if awaited is not None and awaited.member.key == key:
        return "awaited", "it is gone, and its queues are kept for it (restart_grace_ms)"
    return "silent", "it does not heartbeat any more; the engine takes its queues"


def _why_idle(
    live: LiveGroup, member: Member, targets: int, beaten_ms: int | None
) -> Iterator[str]:
    state, rules = live.core.state, live.core.rules
    topics, lease_ms = sorted(member.topics), max(rules.lease_ms, member.profile.lease_ms)
    if member.key not in live.told and beaten_ms is not None and beaten_ms > lease_ms:
        # Whatever else may be so, an engine that is at work would have told it.
        yield f"it has heartbeat for {duration_words(beaten_ms)} and was not told anything yet"
    if not topics:
        yield "it subscribes to nothing"
    unknown = [each for each in topics if lacks_route(state.group, each, state.routes, rules)]
    if unknown:
        yield f"the route of {', '.join(unknown)} is not known"
    if targets:
        yield f"it is given {targets} in the next decision"
    if rules.pause:
        yield "the group is paused: nothing is shared anew"
    if member.key not in live.told:
        yield "it has just joined and was not told anything yet"
    sharers = len(live.picture.members)
    queues = sum(queue.topic in member.topics for queue in live.picture.queues)
    if queues < sharers:
        yield f"{sharers} members share {counted(queues, 'queue')}: there is none left"
    if rules.react == "on_tick":
        yield "it is given queues at the next trigger (react on_tick)"
    yield f"{rules.strategy} gives it none"
