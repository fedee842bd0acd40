"""Somebody speaks in the name of a living member: words that its own heartbeats contradict.

A forged leave or release frees queues on which their member still works. The records themselves
cannot tell: they look as an honest member's do. What tells is that the member goes on. So the
member is told at once what it holds in the engine's view, and stops; and when it heartbeats on
although by its own words it should not, that is an alarm (rule H31).

Two clocks must agree that a heartbeat came later than the words: the log's own, which stands still
while the leader of the heartbeats is frozen, and the append times, which do not depend on how far
each topic was read.

ADR 0107 gives the reasons.
"""

from dataclasses import replace
from typing import Final

from fairlead.core.draft import Draft
from fairlead.core.membership.members import effective_members, notice_to
from fairlead.core.model import MemberKey
from fairlead.core.outputs import Cause
from fairlead.core.records import Arrival, Heartbeat
from fairlead.core.state import Grant, Spoken, Tombstone

__all__ = ["SPOKEN_FOR", "note_going_on", "note_unasked"]

SPOKEN_FOR: Final = "spoken_for"
"""The alarm and the cause that a member works on after words in its name."""


def note_unasked(draft: Draft, grant: Grant, read: Spoken) -> None:
    """Note a release that nobody has asked for, and tell its member at once what it holds now.

    Members that leave release unasked; so does whoever obeys a drop of an older driver.
    """
    state = draft.state
    member = state.members.get(grant.member)
    asked = grant.dropped or grant.epoch.generation != state.generation
    leaves = grant.member in draft.leavers or (member is not None and member.leaving)
    if member is None or asked or leaves or state.barrier is not None:
        return
    draft.update_member(member, spoken=read)
    draft.tell.add(grant.member)


def note_going_on(draft: Draft, arrival: Arrival, beat: Heartbeat) -> None:
    """Raise the alarm if a member heartbeats on after what was said in its name."""
    stone = draft.state.tombstones.get(beat.member)
    if stone is not None and arrival.clock_ms <= stone.until_ms:
        draft.state.tombstones[beat.member] = _after_leave(draft, arrival, beat, stone)
        return
    member = draft.state.members.get(beat.member)
    if member is None or member.spoken is None:
        return
    if not _is_later(arrival, member.spoken, draft.rules.margin_ms):
        return
    draft.update_member(member, spoken=None)
    newest = effective_members(draft.state.members).get(beat.member.client_id)
    if not member.leaving and newest is not None and newest.key == beat.member:
        because = "a queue that it works on was released in its name, and it heartbeats on"
        _tell(draft, arrival, beat.member, because)


def _after_leave(draft: Draft, arrival: Arrival, beat: Heartbeat, stone: Tombstone) -> Tombstone:
    """Return what is remembered of a member that left and whose heartbeat was read.

    One that still holds something is told at once that it holds nothing. One that goes on is told
    to begin anew, and the alarm is raised. Whoever left honestly is gone, or reads neither.
    """
    spoken = stone.spoken
    if spoken is None or stone.told or draft.state.barrier is not None:
        return stone
    holds = beat.digest != 0
    if holds and not stone.closed and arrival.source.append_ms > spoken.append_ms:
        draft.close(beat.member)
        stone = replace(stone, closed=True)
        draft.because("client_left", client_id=beat.member.client_id, at=arrival.source)
    # Who waits for the answer to its last word may heartbeat until its lease ends.
    rules = draft.rules
    wait_ms = rules.margin_ms if holds or stone.closed else rules.lease_ms + rules.margin_ms
    if not _is_later(arrival, spoken, wait_ms):
        return stone
    message = "somebody has left in the name of this incarnation: stop all work and start a new one"
    draft.notices.append(notice_to(draft, beat.member, "lapsed", message))
    _tell(draft, arrival, beat.member, "it left by a record in its name, and it heartbeats on")
    return replace(stone, told=True)


def _is_later(arrival: Arrival, spoken: Spoken, by_ms: int) -> bool:
    return (
        arrival.clock_ms - spoken.clock_ms > by_ms
        and arrival.source.append_ms - spoken.append_ms > by_ms
    )


def _tell(draft: Draft, arrival: Arrival, member: MemberKey, because: str) -> None:
    draft.alarms.add(SPOKEN_FOR)
    draft.counts["member", SPOKEN_FOR] += 1
    draft.causes[SPOKEN_FOR, member] = Cause(
        SPOKEN_FOR, member.client_id, at=arrival.source, because=because
    )
