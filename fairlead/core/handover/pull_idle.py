"""Queues that their members hold and do not pull: the engine drops and adds them (ADR 0137).

Source of the rule: RocketMQ's ProcessQueue#isPullExpired: a push consumer starts a queue again that
it has not tried to pull for 120 s; a pull consumer's queues are its application's affair. There
each client looks after itself. Here it reports when it last tried, and the engine decides.

The state keeps nothing of it. A report acts in the step that reads it, and only under the newest
grant of its queue: later reports of a dropped grant mean nothing. The new grant is idle from its
own start on, so a member that never pulls gets its queue again once in that time.
"""

from typing import Final

from fairlead.core.draft import Draft
from fairlead.core.handover.drop import drop_owner
from fairlead.core.model import MemberKey
from fairlead.core.outputs import Cause
from fairlead.core.records import Arrival, QueueProgress

__all__ = ["PULL_IDLE", "drop_idle_queues", "note_idle"]

PULL_IDLE: Final = "pull_idle"
"""The cause, the alarm and the counter of a queue that was dropped since nobody pulled it."""

_PUSH: Final = "push"


def note_idle(draft: Draft, arrival: Arrival, member: MemberKey, entry: QueueProgress) -> None:
    """Note what an accepted progress reports of pulling its queue; the newest report counts."""
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


def drop_idle_queues(draft: Draft) -> None:
    """Drop each idle queue, so that this decision adds it to its target again.

    The target is its member, unless the queue goes elsewhere anyway: targets are computed before,
    while the member still holds it. It starts at the reported position, or a later one.
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
