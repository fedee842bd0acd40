"""Which members of a group keep it waiting: for a release, for that they follow, for a heartbeat.

And which wait for it: they heartbeat, and no engine has told them anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fairlead.core.model import MemberKey
from fairlead.observed.group_standing import GroupStanding
from fairlead.observed.member_standing import MemberStanding
from fairlead.observed.problems import Deaf, Drain, Silence, Unanswered
from fairlead.observed.queue_standing import QueueStanding

__all__ = ["Holding", "deaf_in", "holding_in", "silent_in", "unanswered_in"]


@dataclass(frozen=True, slots=True)
class Holding:
    """A member that was told to give queues up and has not: which, and who waits for it."""

    member: MemberKey
    queues: tuple[QueueStanding, ...]
    drain: Drain


def holding_in(found: GroupStanding) -> Iterator[Holding]:
    """Yield who was told to give queues up and has not, in order."""
    members = {each.key: each for each in found.members}
    queues: dict[MemberKey, list[tuple[QueueStanding, int | None]]] = {}
    for each in found.queues:
        for holder in each.draining:
            queues.setdefault(holder.member, []).append((each, holder.since_ms))
    for key, waited in sorted(queues.items()):
        since = [since_ms for _, since_ms in waited if since_ms is not None]
        member = members.get(key)
        drain = Drain(
            asked_ms=None if len(since) < len(waited) else found.now_ms - min(since),
            lease_ms=_lease_ms(found, member),
            muted=key.client_id in found.past.muted,
            lives=member is not None and member.live,
        )
        yield Holding(key, tuple(each for each, _ in waited), drain)


def deaf_in(found: GroupStanding) -> Iterator[tuple[MemberStanding, Deaf]]:
    """Yield who heartbeats and has not taken in what it was told."""
    for each in found.members:
        told = found.live.told.get(each.key)
        if each.behind and told is not None:
            # Its record is written again and again to heal it, under the same epoch.
            told_ms = found.now_ms - found.past.decided.get(told.epoch, told.at_ms)
            yield each, Deaf(told_ms, _lease_ms(found, each))


def silent_in(found: GroupStanding) -> Iterator[tuple[MemberStanding, Silence]]:
    """Yield who has queues and does not heartbeat."""
    for each in found.members:
        if each.role == "silent" and (each.held or each.draining or each.gated):
            silent_ms = None if each.heard_ms is None else found.now_ms - each.heard_ms
            yield each, Silence(silent_ms, _lease_ms(found, each))


def unanswered_in(found: GroupStanding) -> Iterator[tuple[MemberStanding, Unanswered]]:
    """Yield who heartbeats to share queues and was not told anything yet."""
    for each in found.members:
        if each.unplaced and each.since_ms is not None:
            waited_ms = found.now_ms - each.since_ms
            yield each, Unanswered(waited_ms, _lease_ms(found, each), found.engine.tick_ms)


def _lease_ms(found: GroupStanding, member: MemberStanding | None) -> int:
    own = 0 if member is None or member.profile is None else member.profile.lease_ms
    return max(own, found.live.core.rules.lease_ms)
