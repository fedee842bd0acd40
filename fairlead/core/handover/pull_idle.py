"""Queues that their members hold and do not pull: they are dropped and added again (ADR 0137).

Source of the rule: RocketMQ's ProcessQueue#isPullExpired, by which a push consumer takes a queue
anew that it has not tried to pull for 120 s; a pull consumer's queues are its application's affair.
There each client looks after itself; here it tells how long ago it tried, and the engine decides.

Nothing is remembered of it. A report acts in the step that reads it, and only under the newest
grant of its queue: as soon as that is dropped, later reports of the old one mean nothing. The new
one is idle from its own start on, so a member that never pulls is cycled once in that time.
"""

from typing import Final

from fairlead.core.draft import Draft
from fairlead.core.handover.drop import drop_owner
from fairlead.core.model import MemberKey
from fairlead.core.outputs import Cause
from fairlead.core.records import Arrival, QueueProgress

__all__ = ["PULL_IDLE", "note_idle", "take_anew"]

PULL_IDLE: Final = "pull_idle"
"""The cause, the alarm and the count of a queue that was taken anew."""

_PUSH: Final = "push"


def note_idle(draft: Draft, arrival: Arrival, member: MemberKey, entry: QueueProgress) -> None:
    """Take in what an accepted progress tells of pulling its queue; the newest word counts."""
    limit_ms = draft.rules.pull_max_idle_ms
    draft.idle.pop(entry.queue, None)
    if limit_ms is None or entry.idle_ms is None or entry.idle_ms <= limit_ms:
        return
    known = draft.state.members.get(member)
    chain = draft.state.queues[entry.queue].chain
    if known is None or known.profile.consume_type != _PUSH or not chain:
        return
    if (chain[-1].member, chain[-1].epoch, chain[-1].dropped) == (member, entry.epoch, False):
        draft.idle[entry.queue] = chain[-1], arrival.source


def take_anew(draft: Draft) -> None:
    """Drop each queue that is idle, so that this decision adds it to its target again.

    That is its member, unless the queue is to go elsewhere anyway: targets are computed before,
    while the queue is still held. The start is known: it is what the report told, or a later one.
    """
    for queue, (grant, source) in sorted(draft.idle.items()):
        value = draft.state.queues.get(queue)
        if value is None or not value.chain or value.chain[-1] != grant:
            continue
        drop_owner(draft, queue, value)
        draft.counts[PULL_IDLE, ""] += 1
        draft.alarms.add(PULL_IDLE)
        draft.causes[PULL_IDLE, queue] = Cause(
            PULL_IDLE, grant.member.client_id, at=source, queue=queue
        )
