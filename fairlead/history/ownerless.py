"""A queue without an owner, or with a silent one: why, since when, and where it waits."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from fairlead.counts import counted
from fairlead.durations import duration_words
from fairlead.history.formatting import at_words, clock_words
from fairlead.history.history_model import ExplainedDecision, FoundRelease, Handover
from fairlead.history.last_heard import LastHeard, Patience
from fairlead.observed.group_standing import GroupStanding
from fairlead.observed.queue_standing import QueueStanding
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["LostQueue", "SilentOwner", "silent_owner", "why_nobody"]

_PHASES: Final = {
    "empty": "the group has no members",
    "settling": "the engine collects changes before it decides (settle_ms)",
    "waiting_for_route": "no bridge has told the route of a topic",
    "waiting_for_offsets": "no bridge has told where queues begin and end",
    "waiting_for_clients": "it is kept for a client that may come back (restart_grace_ms)",
    "handing_over": "a handover is under way",
    "standby": "RocketMQ's own strategy shares the queues out: the brokers know who reads it",
    "taking_over": "the group goes over from RocketMQ's own strategy, and no queue moves yet",
    "giving_back": "the group goes back to RocketMQ's own strategy",
    "paused": "the group is paused: no queue moves until it is resumed",
    "barrier": "an engine has started, and waits for the answers of all clients",
    "recovering": "an engine without its state waits until it has heard everybody",
    "unknown": "the group has members that no decision has placed yet",
    "quarantined": "the step of this group fails: see the engine's log and `fairlead rejects tail`",
}
_ALARMS: Final = {
    "designation_empty": "no designated client subscribes to its topic",
    "drained_empty": "every client that subscribes to its topic is drained",
    "paused_unassigned": "the group is paused: no queue moves until it is resumed",
}
_OF_SUCCESSORS: Final = ("granted_ms", "gap_ms", "by_release")


def why_nobody(queue: QueueStanding, standing: GroupStanding) -> str | None:
    """Return why a queue has no owner; None: it has one.

    Args:
        queue: how the queue stands.
        standing: how its group stands.
    """
    if queue.owner is not None:
        return None
    if queue.draining:
        holders = ", ".join(each.member.client_id for each in queue.draining)
        goes_to = "" if queue.target is None else f", and goes to {queue.target} then"
        return f"{holders} has to release it first{goes_to}"
    return next(_reasons(queue, standing))


def _reasons(queue: QueueStanding, standing: GroupStanding) -> Iterator[str]:
    """Yield why nobody has a queue and nobody gets it; the first reason counts."""
    newest = standing.newest
    if standing.release is not None:
        yield f"the group was handed back: {standing.release.words()}"
    if not standing.live.observed.live_members().members:
        yield _PHASES["empty"]
    if not queue.readable:
        yield "no route of a topic that the group reads has it any more"
    if standing.engine.silent:
        yield f"nobody decides: {standing.engine.words()}"
    if newest is not None and queue.queue.topic in newest.failures:
        why = newest.failures[queue.queue.topic].message
        yield f"the strategy cannot allocate its topic: {why}"
    for alarm in () if newest is None else newest.alarms:
        if alarm in _ALARMS:
            yield _ALARMS[alarm]
    if standing.phase in _PHASES:
        yield _PHASES[standing.phase]
    if newest is None:
        yield "the log has no decision of the group"
    else:
        queues = counted(newest.state.unassigned, "queue")
        yield f"{queues} of the group without an owner, and no alarm says why"


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
    def ended_ms(self) -> int | None:
        """When the grant was over, by that decision; None: it goes on, or none tells it."""
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
        return {**values, "ended_ms": self.ended_ms, "taken_by": decision}
