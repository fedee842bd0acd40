"""Forged leaves and releases: records in a living member's name that its heartbeats contradict.

A forged leave or release frees queues on which the member still works. It looks as an honest one
does, but the member goes on. So the engine writes that member at once what it holds in the engine's
view, and the member stops. If it heartbeats on against its own words, an alarm says so (rule H31).

By two clocks a heartbeat must come later than the words: by the log's own, which stands still while
the leader of the heartbeats is frozen, and by the append times, which do not depend on how far the
engine has read each topic.

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
"""The alarm and the cause that a member works on after a record in its name ended its work."""


def note_unasked(draft: Draft, grant: Grant, read: Spoken) -> None:
    """Note a release that no drop has asked for, and write its member at once what it holds now.

    Members that leave release unasked; so does a member that obeys a drop of an older driver.
    """
    state = draft.state
    member = state.members.get(grant.member)
    asked = grant.dropped or grant.epoch.generation != state.generation
    leaves = grant.member in draft.leavers or (member is not None and member.leaving)
    if member is None or asked or leaves or state.barrier is not None:
        return
    draft.update_member(member, spoken=read)
    draft.to_assign.add(grant.member)


def note_going_on(draft: Draft, arrival: Arrival, beat: Heartbeat) -> None:
    """Raise the alarm if a member heartbeats on after a record in its name ended its work."""
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
    """Return the tombstone of a member that left, after another heartbeat of it.

    A member that still holds something gets an empty assignment at once. One that goes on gets a
    notice to begin a new incarnation, and the alarm is raised. An honest leaver reads neither.
    """
    spoken = stone.spoken
    if spoken is None or stone.notified or draft.state.barrier is not None:
        return stone
    holds = beat.digest != 0
    if holds and not stone.closed and arrival.source.append_ms > spoken.append_ms:
        draft.close(beat.member)
        stone = replace(stone, closed=True)
        draft.because("client_left", client_id=beat.member.client_id, at=arrival.source)
    # A member that waits for the answer to its last record may heartbeat until its lease ends.
    rules = draft.rules
    wait_ms = rules.margin_ms if holds or stone.closed else rules.lease_ms + rules.margin_ms
    if not _is_later(arrival, spoken, wait_ms):
        return stone
    message = "somebody has left in the name of this incarnation: stop all work and start a new one"
    draft.notices.append(notice_to(draft, beat.member, "lapsed", message))
    _tell(draft, arrival, beat.member, "it left by a record in its name, and it heartbeats on")
    return replace(stone, notified=True)


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
