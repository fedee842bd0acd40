"""Members that leave: they are no targets any more, and their unstarted grants end at once.

A member says that it leaves in a leave and in each of its last releases, since the engine may have
read one topic further than the other. Both name the newest epoch under which the member started
anything. It starts nothing newer, so its grants above that epoch end. What it did start ends by its
releases or by its lapse alone (rule H11).

ADR 0120 gives the reasons.
"""

from fairlead.core.draft import Draft
from fairlead.core.handover.chain import answer_never
from fairlead.core.handover.resolution import apply_resolution
from fairlead.core.membership.members import may_concern_shares
from fairlead.core.membership.rebalance_delay import note_change
from fairlead.core.membership.restart_grace import await_return
from fairlead.core.model import MessageQueue, Source
from fairlead.core.records import Arrival, Leave, Release
from fairlead.core.state import Grant, Member

__all__ = ["apply_leave", "free_unstarted", "note_leaver"]


def apply_leave(draft: Draft, arrival: Arrival, leave: Leave) -> None:
    """Take a member out of the targets."""
    note_leaver(draft, arrival, leave)
    member = draft.state.members.get(leave.member)
    if member is None or member.leaving:
        draft.counts["leave", "stale" if member is None else "duplicate"] += 1
        return
    draft.counts["leave", "applied"] += 1
    _take_out(draft, member, arrival.source, arrival.clock_ms)


def note_leaver(draft: Draft, arrival: Arrival, record: Leave | Release) -> None:
    """Note that a member leaves, if its leave or release says up to where it started work."""
    if record.last_started is not None:
        draft.leavers[record.member] = record.last_started, arrival.source


def free_unstarted(draft: Draft) -> None:
    """End what leaving members never started, when all records are applied.

    A release is applied before its member's leave and heartbeats, which may stand in the same
    batch. Without the leave, the member counts as leaving at the end of the batch.
    """
    members = draft.state.members
    leavers = {key: last for key, last in sorted(draft.leavers.items()) if key in members}
    for key, (_, source) in leavers.items():
        if not members[key].leaving:
            _take_out(draft, members[key], source, draft.moment.clock_ms)
    for queue in sorted(draft.state.queues) if leavers else ():
        value = draft.state.queues[queue]
        for grant in value.grants:
            last = leavers.get(grant.member)
            if last is not None and grant.epoch > last[0]:
                _end_unstarted(draft, queue, grant, last[1])


def _take_out(draft: Draft, member: Member, source: Source, clock_ms: int) -> None:
    draft.update_member(member, leaving=True)
    draft.because("client_left", client_id=member.key.client_id, at=source)
    if not await_return(draft, member, clock_ms) and may_concern_shares(draft, member):
        note_change(draft, "client_left", clock_ms)


def _end_unstarted(draft: Draft, queue: MessageQueue, grant: Grant, source: Source) -> None:
    ended = answer_never(draft.state.queues[queue], grant.member, grant.epoch)
    assert ended is not None, "the grant was found in this queue"
    apply_resolution(draft, queue, ended)
    draft.because("released", client_id=grant.member.client_id, at=source)
