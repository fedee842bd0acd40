"""A queue without an owner, or with a silent one: why, since when, and where it waits."""

from dataclasses import dataclass
from typing import Any, Final

from fairlead.core.model import MessageQueue
from fairlead.counts import counted
from fairlead.durations import duration_words
from fairlead.history.formatting import at_words, clock_words
from fairlead.history.history_model import ExplainedDecision, FoundRelease, Handover
from fairlead.history.last_heard import LastHeard, Patience
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["LostQueue", "SilentOwner", "silent_owner", "why_nobody"]

_PHASES: Final = {
    "empty": "the group has no members",
    "settling": "the engine collects changes before it decides (settle_ms)",
    "waiting_for_route": "no bridge has told the route of a topic",
    "waiting_for_offsets": "no bridge has told where queues begin and end",
    "waiting_for_clients": "it is kept for a client that may come back (restart_grace_ms)",
    "handing_over": "a handover is under way",
    "paused": "the group is paused: no queue moves until it is resumed",
    "barrier": "an engine has started, and waits for the answers of all clients",
    "recovering": "an engine without its state waits until it has heard everybody",
    "quarantined": "the step of this group fails: see the engine's log and `fairlead rejects tail`",
}
_ALARMS: Final = {
    "designation_empty": "no designated client subscribes to its topic",
    "drained_empty": "every client that subscribes to its topic is drained",
    "paused_unassigned": "the group is paused: no queue moves until it is resumed",
}
_OF_SUCCESSORS: Final = ("granted_ms", "gap_ms", "by_release")


def why_nobody(queue: MessageQueue, newest: DecisionRecord | None) -> str:
    """Return why nobody has a queue, as far as the newest decision tells."""
    if newest is None:
        return "the log has no decision of the group"
    if queue.topic in newest.failures:
        return f"the strategy cannot allocate its topic: {newest.failures[queue.topic].message}"
    for alarm in newest.alarms:
        if alarm in _ALARMS:
            return _ALARMS[alarm]
    if newest.phase in _PHASES:
        return _PHASES[newest.phase]
    if newest.state.unassigned:
        queues = counted(newest.state.unassigned, "queue")
        return f"{queues} of the group without an owner, and no alarm says why"
    return "no route of a topic that the group reads has it any more"


@dataclass(frozen=True, slots=True)
class SilentOwner:
    """A client that has not heartbeat for longer than its lease.

    ``heard``: its last heartbeat. ``silent_ms``: how long ago that was appended. ``taken_ms``: how
    long after it an engine takes its queues.
    """

    heard: LastHeard
    silent_ms: int
    taken_ms: int

    def words(self) -> str:
        """Return one line."""
        appended = f"{clock_words(self.heard.append_ms)} ({at_words(*self.heard.place)})"
        return (
            f"for {duration_words(self.silent_ms)}: its last heartbeat was appended at {appended}; "
            f"an engine takes its queues {duration_words(self.taken_ms)} after that (lease and "
            "margin)"
        )

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "heard_ms": self.heard.append_ms,
            "heard_at": [*self.heard.place],
            "silent_ms": self.silent_ms,
            "taken_after_ms": self.taken_ms,
        }


def silent_owner(heard: LastHeard | None, patience: Patience, now_ms: int) -> SilentOwner | None:
    """Return the silence of a client; None: its lease runs, or it was never heard.

    Args:
        heard: its last heartbeat.
        patience: lease and margin of its group.
        now_ms: until when it is silent.
    """
    if heard is None:
        return None
    lease_ms = max(heard.lease_ms, patience.lease_ms)
    silent_ms = now_ms - heard.append_ms
    if silent_ms <= lease_ms:
        return None
    return SilentOwner(heard, silent_ms, lease_ms + patience.margin_ms)


@dataclass(frozen=True, slots=True)
class LostQueue:
    """How a queue lost its last owner.

    Attributes:
        given_up: the last grant and its end; nobody was granted the queue after that.
        decision: the one that took it; None: it is not among those that were read.
        ended: the decision that found that the grant had ended; None: likewise.
    """

    given_up: Handover
    decision: ExplainedDecision | None
    ended: DecisionRecord | None

    @property
    def since_ms(self) -> int | None:
        """Since when nobody has had it, by that decision."""
        return None if self.ended is None else self.ended.written_ms

    @property
    def client_id(self) -> str:
        """Who had it last."""
        return self.given_up.before.client_id

    @property
    def waits_at(self) -> FoundRelease | None:
        """The release that says where the next owner begins; None: none says it."""
        released = self.given_up.released
        return None if released is None or released.offset is None else released

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        handover = self.given_up.to_json()
        values = {name: handover[name] for name in handover if name not in _OF_SUCCESSORS}
        decision = None if self.decision is None else self.decision.to_json()
        return {**values, "taken_by": decision}
