"""Why nobody has a queue, by the newest decision of its group."""

from typing import Final

from fairlead.core.model import MessageQueue
from fairlead.counts import counted
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["why_nobody"]

_PHASES: Final = {
    "empty": "the group has no member",
    "settling": "changes are collected before they are shared out (settle_ms)",
    "waiting_for_route": "no bridge has told the route of a topic",
    "waiting_for_offsets": "no bridge has told where queues begin and end",
    "waiting_for_clients": "it is kept for a client that may come back (restart_grace_ms)",
    "handing_over": "a handover is under way",
    "paused": "the group is paused: nothing is shared out until the pause is removed",
    "barrier": "an engine has started, and waits for the answers of all clients",
    "recovering": "an engine without its state waits until everybody is heard",
    "quarantined": "the step of this group fails: see the engine's log and `fairlead rejects tail`",
}
_ALARMS: Final = {
    "designation_empty": "no client that is designated subscribes to its topic",
    "drained_empty": "every client that subscribes to its topic is drained",
    "paused_unassigned": "the group is paused: nothing is shared out until the pause is removed",
}


def why_nobody(queue: MessageQueue, newest: DecisionRecord | None) -> str:
    """Return why, as far as the newest decision tells."""
    if newest is None:
        return "no decision of the group is in the log"
    if queue.topic in newest.failures:
        return f"the allocation of its topic fails: {newest.failures[queue.topic]}"
    for alarm in newest.alarms:
        if alarm in _ALARMS:
            return _ALARMS[alarm]
    if newest.phase in _PHASES:
        return _PHASES[newest.phase]
    if newest.state.unassigned:
        queues = counted(newest.state.unassigned, "queue")
        return f"{queues} of the group without an owner, and no alarm says why"
    return "no route of a topic that the group reads has it any more"
