"""Alarms, phases and causes in words for whoever reads them at night."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from fairlead.counts import listed

__all__ = ["ALARMS", "PHASES", "cause_words", "causes_words"]

ALARMS: Final[Mapping[str, str]] = {
    "allocation_cut_short": (
        "the strategy stopped at a limit of its own: every queue has its owner, but the balance "
        "may not be the best"
    ),
    "allocation_failed": "a topic cannot be allocated and keeps what it has",
    "barrier_mute": "a member heartbeats and does not acknowledge the new generation",
    "clock_jump": "the clock of the log jumped",
    "designation_empty": "no designated member subscribes to a topic: nobody consumes it",
    "drained_empty": "every member that subscribes to a topic is drained: nobody consumes it",
    "duplicate_client_id": "two processes use one client id: the newer one counts",
    "mute_member": "a member heartbeats and does not give up what it was told to",
    "not_returned": "a client with queues did not come back within the restart grace",
    "paused_unassigned": "the group is paused, and nobody consumes one of its queues",
    "position_out_of_bounds": "a member told a position that nobody can have reached",
    "pull_idle": "a push client did not pull a queue; it was taken anew",
    "rule_without_effect": "a rule does nothing under the strategy or the members of now",
    "spoken_for": "somebody released or left in the name of a member that works on",
    "step_failed": "the engine failed on a record of this group",
    "subscription_disagreement": "a member subscribes otherwise than its group",
}
"""What each alarm of docs/protocol.md §3.14 says."""

PHASES: Final[Mapping[str, str]] = {
    "barrier": "a new engine waits until every member has acknowledged it; owners go on",
    "empty": "it has no members",
    "handing_over": "queues are on their way from one member to another",
    "paused": "nothing is shared anew until it is resumed; owners go on",
    "quarantined": "the engine keeps failing on it and leaves it alone; owners go on",
    "recovering": "the engine lost its state: it waits until it knows who is working",
    "settling": "joins and leaves are gathered into one decision (settle_ms)",
    "stable": "nothing is on its way",
    "unknown": "members are heard that no decision has placed yet: one is awaited",
    "waiting_for_clients": "queues are kept for clients that restart (restart_grace_ms)",
    "waiting_for_offsets": "a bridge has to tell where queues begin",
    "waiting_for_route": "a bridge has to tell the route of a topic",
}
"""What each phase of docs/protocol.md §3.14 means, and `fairlead.observed.phase`'s own."""


def cause_words(cause: Mapping[str, Any]) -> str:
    """Return a cause as its record has it in a few words.

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
    """Return the first few causes, and how many more there are; without any, the triggers."""
    words = list(dict.fromkeys(map(cause_words, causes))) or list(triggers)
    return listed(words) or "-"
