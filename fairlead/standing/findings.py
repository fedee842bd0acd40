"""What is wrong with a group as it stands: what its sets say, and what takes too long.

Decides when a handover counts as stalled: its holder has not released for longer than the drain
deadline of the group, or than its lease where there is none. A queue that is merely on its way is
no finding, nor is a group whose members are all gone and have left nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from fairlead.core.model import MemberKey, MessageQueue
from fairlead.planning.findings import Finding, findings_of
from fairlead.standing.group_standing import GroupStanding
from fairlead.standing.member_standing import MemberStanding
from fairlead.standing.queue_standing import Holder, QueueStanding
from fairlead.standing.words import PHASES

__all__ = ["standing_findings"]

_QUEUES_NAMED_MAX: Final = 3
_PHASES: Final = {
    "recovering": (
        "wait: it lasts lease and margin, and until every live member has acknowledged; then look "
        "at the engine's log for why its checkpoint was lost"
    ),
    "quarantined": (
        "look at the rejects topic and the engine's log for the record that it fails on; owners "
        "go on meanwhile, and nothing is shared anew"
    ),
    "barrier": "look for the member that has not acknowledged; restart it, or set --on-mute force",
}
_FAILED: Final = "set a strategy or options that can share it: `fairlead plan` shows what would be"
_NOBODY: Final = {
    "drained_empty": "undrain one of the members that subscribe to it",
    "designation_empty": "start a designated member, or unset the rule (--designated)",
}


def standing_findings(found: GroupStanding, odd: frozenset[MemberKey]) -> tuple[Finding, ...]:
    """Return everything that is wrong, in a fixed order: what concerns all of it first.

    Args:
        found: the group.
        odd: the members that were told that they differ from their group.
    """
    return (
        *_engine(found),
        *_offline(found),
        *_phase(found),
        *_sets(found, odd),
        *_unsafe(found),
        *_stalled(found),
        *_deaf(found),
        *_failures(found),
    )


def _engine(found: GroupStanding) -> Iterator[Finding]:
    silent_ms = found.engine_silent_ms
    if silent_ms is not None and found.sharing:
        yield Finding(
            "engine_silent",
            "engine",
            f"no engine has ticked for {_seconds(silent_ms)}: owners go on, nothing is decided",
            "start one (fairlead run), or look at the log of the one that should run",
        )


def _offline(found: GroupStanding) -> Iterator[Finding]:
    waiting = sum(each.place.lag or 0 for each in found.queues)
    if waiting and not found.sharing:
        text = f"nobody is in it, and {waiting:,} messages wait"
        yield Finding("offline", "group", text, "start its clients")


def _phase(found: GroupStanding) -> Iterator[Finding]:
    remedy = _PHASES.get(found.phase)
    if remedy is None:
        return
    since_ms, rules = found.past.phase_since_ms, found.live.roll.rules
    lasted_ms = None if since_ms is None else found.now_ms - since_ms
    alarmed = found.newest is not None and "barrier_mute" in found.newest.alarms
    brief = lasted_ms is not None and lasted_ms <= rules.lease_ms + rules.margin_ms
    if found.phase == "barrier" and brief and not alarmed:
        # Every start of an engine passes through it.
        return
    how_long = "" if lasted_ms is None else f" for {_seconds(lasted_ms)}"
    yield Finding(found.phase, found.name, f"{PHASES[found.phase]}{how_long}", remedy)


def _sets(found: GroupStanding, odd: frozenset[MemberKey]) -> Iterator[Finding]:
    alarms = () if found.newest is None else found.newest.alarms
    nobody = next((words for alarm, words in _NOBODY.items() if alarm in alarms), "")
    paused = found.live.roll.rules.pause
    for each in findings_of(found.live, odd):
        if each.problem != "unassigned":
            yield each
        elif each.subject in found.unrouted:
            yield replace(each, remedy="look whether a bridge runs and watches this topic")
        elif not paused:
            yield replace(each, remedy=nobody)
    for queue in found.queues if paused else ():
        if queue.unassigned:
            yield Finding(
                "paused_unassigned",
                "/".join(map(str, queue.queue)),
                "nobody holds it, and nobody gets it while the group is paused",
                f"fairlead group resume {found.name}",
            )


def _unsafe(found: GroupStanding) -> Iterator[Finding]:
    for each in found.queues:
        if each.unsafe:
            owners = ", ".join(_ids((*each.held, *each.gated)))
            text = f"{owners} was granted it without waiting for {', '.join(_ids(each.draining))}"
            remedy = (
                "expect messages twice until it is released; mode cooperative and on_mute wait "
                "never do this"
            )
            yield Finding("unsafe", "/".join(map(str, each.queue)), text, remedy)


def _stalled(found: GroupStanding) -> Iterator[Finding]:
    """Yield each holder that was told to stop and takes too long, with the queues and who waits."""
    members = {each.key: each for each in found.members}
    queues: dict[MemberKey, list[tuple[QueueStanding, int | None]]] = {}
    for each in found.queues:
        for holder in each.draining:
            queues.setdefault(holder.member, []).append((each, holder.since_ms))
    deadline_ms = found.live.roll.rules.drain_deadline_ms
    for key, waited in sorted(queues.items()):
        since = [since_ms for _, since_ms in waited if since_ms is not None]
        asked_ms = None if len(since) < len(waited) else found.now_ms - min(since)
        member = members.get(key)
        lease_ms = _lease_ms(found, member)
        patience_ms = lease_ms if deadline_ms is None else deadline_ms
        if asked_ms is not None and asked_ms <= patience_ms:
            continue
        mute = key.client_id in found.past.muted or (
            deadline_ms is not None and asked_ms is not None and asked_ms > deadline_ms + lease_ms
        )
        lives = member is not None and member.live
        how_long = "longer than decisions were read" if asked_ms is None else _seconds(asked_ms)
        text = (
            f"it was told {how_long} ago to give up {_named(each.queue for each, _ in waited)} and "
            f"has not; {_waiting(waited)}. {_heard(found, member)}"
        )
        yield Finding(
            "mute_member" if mute and lives else "stalled_handover",
            key.client_id,
            text,
            _what_helps(found, lives=lives),
        )


def _what_helps(found: GroupStanding, *, lives: bool) -> str:
    if found.engine_silent_ms is not None:
        return "start an engine first: none reads releases, or takes queues from who is gone"
    if not lives:
        return "wait: the engine takes its queues lease and margin after its last heartbeat"
    return (
        "look at its log for a message or a callback that takes so long; restart it, or take its "
        f"queues: fairlead group set {found.name} --on-mute force (they may have two owners)"
    )


def _waiting(waited: Iterable[tuple[QueueStanding, int | None]]) -> str:
    names = sorted({name for each, _ in waited for name in _ids(each.gated)})
    if not names:
        return "nobody waits for it"
    return f"{', '.join(names)} {'wait' if len(names) > 1 else 'waits'}"


def _heard(found: GroupStanding, member: MemberStanding | None) -> str:
    if member is None or member.heard_ms is None:
        return "It does not heartbeat"
    return f"It heartbeat {_seconds(max(found.now_ms - member.heard_ms, 0))} ago"


def _deaf(found: GroupStanding) -> Iterator[Finding]:
    """Yield the members that do not take in what they were told."""
    for each in found.members:
        told = found.live.told.get(each.key)
        if not each.behind or told is None:
            continue
        # Its record is written again and again to heal it, under the same epoch.
        lasted_ms = found.now_ms - found.past.decided.get(told.epoch, told.at_ms)
        if lasted_ms > _lease_ms(found, each) + found.live.roll.rules.margin_ms:
            read = "nothing yet" if each.applied is None else ".".join(map(str, each.applied))
            yield Finding(
                "not_followed",
                each.key.client_id,
                f"it was told {'.'.join(map(str, told.epoch))} {_seconds(lasted_ms)} ago, has read "
                f"{read}, and heartbeats",
                "look whether it may read the assignments topic; restart it",
            )


def _failures(found: GroupStanding) -> Iterator[Finding]:
    newest = found.newest
    if newest is None:
        return
    for topic, why in newest.failures.items():
        text = f"it cannot be allocated and keeps what it has: {why}"
        yield Finding("allocation_failed", topic, text, _FAILED)
    if "step_failed" in newest.alarms:
        text = "the engine failed on a record of this group"
        yield Finding("step_failed", found.name, text, _PHASES["quarantined"])


def _lease_ms(found: GroupStanding, member: MemberStanding | None) -> int:
    own = 0 if member is None or member.profile is None else member.profile.lease_ms
    return max(own, found.live.roll.rules.lease_ms)


def _ids(holders: Iterable[Holder]) -> list[str]:
    return [each.member.client_id for each in holders]


def _named(queues: Iterable[MessageQueue]) -> str:
    names = ["/".join(map(str, queue)) for queue in queues]
    more = len(names) - _QUEUES_NAMED_MAX
    shown = ", ".join(names[:_QUEUES_NAMED_MAX])
    return f"{shown} and {more} more" if more > 0 else shown


def _seconds(time_ms: int) -> str:
    return f"{time_ms // 1_000} s"
