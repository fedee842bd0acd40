"""Alarms, phases and causes in words, for whoever reads them at night."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from fairlead.counts import listed

__all__ = ["ALARMS", "NATIVE_PHASES", "PHASES", "cause_words", "causes_words"]

ALARMS: Final[Mapping[str, str]] = {
    "allocation_cut_short": (
        "the strategy stopped at one of its own limits: every queue has an owner, but the balance "
        "may not be the best"
    ),
    "allocation_failed": "the strategy cannot allocate a topic, which keeps its owners",
    "barrier_mute": "a member heartbeats but does not acknowledge the new generation",
    "clock_jump": "the clock of the log jumped",
    "designation_empty": "no designated member subscribes to a topic: nobody consumes it",
    "drained_empty": "every member that subscribes to a topic is drained: nobody consumes it",
    "duplicate_client_id": "two processes use one client id: the newer one counts",
    "foreign_member": (
        "somebody without Fairlead is in the group at RocketMQ's brokers: a queue may have two "
        "owners"
    ),
    "mute_member": "a member heartbeats but does not give up what it has to give up",
    "not_returned": "a client with queues did not come back within the restart grace",
    "paused_unassigned": "the group is paused, and nobody consumes one of its queues",
    "position_out_of_bounds": "a member told a position that cannot be right",
    "pull_idle": "a push client did not pull a queue, so the engine dropped and granted it again",
    "rule_without_effect": "a rule does nothing under the present strategy or members",
    "spoken_for": "somebody released or left in the name of a member that still works",
    "step_failed": "the engine failed on a record of this group",
    "subscription_disagreement": "a member subscribes otherwise than its group",
}
"""What each alarm of docs/protocol.md §3.14 says."""

PHASES: Final[Mapping[str, str]] = {
    "barrier": "a new engine waits until every member has acknowledged it; owners keep working",
    "empty": "it has no members",
    "giving_back": "queues go to where RocketMQ's own strategy would have them, then it goes back",
    "handing_over": "queues are moving from one member to another",
    "paused": "no queue moves until it is resumed; owners keep working",
    "quarantined": "the engine keeps failing on it and leaves it alone; owners keep working",
    "recovering": "the engine lost its state and waits until it knows who is working",
    "settling": "the engine collects joins and leaves into one decision (settle_ms)",
    "stable": "the engine moves no queue",
    "standby": "RocketMQ's own strategy shares the queues out until all clients are attached",
    "taking_over": "it goes over from RocketMQ's own strategy to the engine; no queue moves",
    "unknown": "it has members that no decision has placed yet",
    "waiting_for_clients": "queues are kept for clients that restart (restart_grace_ms)",
    "waiting_for_offsets": "a bridge has yet to tell where queues begin",
    "waiting_for_route": "a bridge has yet to tell the route of a topic",
}
"""The meaning of each phase of docs/protocol.md §3.14 and `fairlead.observed.phase`."""

NATIVE_PHASES: Final = ("standby", "taking_over")
"""In these the data plane's own strategy shares the queues out, and nobody has a grant."""


def cause_words(cause: Mapping[str, Any]) -> str:
    """Return a recorded cause in a few words.

    >>> cause_words({"kind": "client_joined", "client_id": "c4"})
    'client_joined c4'
    """
    queue = cause.get("queue")
    parts = [
        str(cause.get("kind")),
        str(cause.get("rule") or ""),
        "removed" if cause.get("removed") else "",
        "of all groups" if cause.get("group") == "*" else "",
        str(cause.get("client_id") or ""),
        "/".join(map(str, queue)) if isinstance(queue, list | tuple) else "",
        str(cause.get("topic") or ""),
        f"by {cause['by']}" if cause.get("by") else "",
        f"({cause['because']})" if cause.get("because") else "",
    ]
    return " ".join(part for part in parts if part)


def causes_words(causes: Iterable[Mapping[str, Any]], triggers: Iterable[str]) -> str:
    """Return the first few causes, and how many more there are; without causes, the triggers."""
    words = list(dict.fromkeys(map(cause_words, causes))) or list(triggers)
    return listed(words) or "-"
