"""Why a client waits, from the records it has read and the engine's notices (ADR 0184)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fairlead_client.model import Queue
from fairlead_client.session.memory import Memory
from fairlead_client.session.states import SessionState

__all__ = ["WaitingKind", "WaitingReason", "reason_to_wait"]


class WaitingKind(StrEnum):
    """What a client waits for."""

    HEARTBEAT = "heartbeat"
    """No broker has acknowledged a heartbeat: the client has no lease yet, or its lease ended."""
    ENGINE = "engine"
    """No engine has ever run on these topics, or none has answered the client for long."""
    ASSIGNMENT = "assignment"
    """No engine has assigned queues to the client yet."""
    PAUSED = "paused"
    """The group is paused: the engine distributes no queues."""
    DRAINED = "drained"
    """The client is drained: it gets no queues."""
    DESIGNATED = "designated"
    """Others are designated to consume, or the group is released to native consumers."""
    REJECTED = "rejected"
    """The engine rejects the heartbeats of a client that has no queues."""
    ROOM = "room"
    """The engine has reached its limit for all groups, and takes no further topic."""
    TOPIC = "topic"
    """A topic of the subscription does not exist, as a bridge has said."""
    BRIDGE = "bridge"
    """The engine has asked about a topic of the subscription, and no bridge has answered."""
    STANDBY = "standby"
    """The data plane's own strategy shares the group out; somebody in it is not attached yet."""
    RELEASE = "release"
    """The client is promised a queue that its former holder has not released yet."""


_FROM_ENGINE: Final = (
    WaitingKind.STANDBY,
    *(WaitingKind.PAUSED, WaitingKind.DRAINED, WaitingKind.DESIGNATED),
    *(WaitingKind.ROOM, WaitingKind.TOPIC, WaitingKind.BRIDGE),
)
"""The kinds that an engine's notice names."""

_ANSWERED_MS: Final = 20_000
"""A running engine assigns queues to a newcomer, or says why not, within this time. Longer windows
(`settle_ms`, `trigger_ms`) and the barrier of a long lease may take more."""


@dataclass(frozen=True, slots=True)
class WaitingReason:
    """What the client waits for, in one word and in a sentence, and since when.

    `since_ms` is on the session's clock; None: since this became the reason.
    """

    kind: WaitingKind
    words: str
    since_ms: int | None = None


def reason_to_wait(memory: Memory) -> WaitingReason | None:
    """Return why a client waits; None: it has all that it was promised, or it leaves."""
    if memory.state in (SessionState.NEW, SessionState.STARTING):
        words = "no broker has acknowledged its first heartbeat yet"
        return WaitingReason(WaitingKind.HEARTBEAT, words)
    if memory.state is SessionState.FENCED:
        return WaitingReason(
            WaitingKind.HEARTBEAT,
            "its lease has ended; it joins again after its work has stopped and it can read its "
            "assignments",
        )
    if memory.state is not SessionState.RUNNING:
        return None
    gated = _gated(memory)
    if gated:
        return WaitingReason(WaitingKind.RELEASE, _release_words(gated))
    if memory.generation == 0:
        return WaitingReason(
            WaitingKind.ENGINE,
            "no engine has ever run on these topics: start `fairlead run`, or check the prefix",
        )
    reason = _engine_reason(memory)
    if reason is not None:
        return reason
    return _unanswered(memory) if memory.applied is None else None


def _unanswered(memory: Memory) -> WaitingReason:
    """Return why a newcomer waits that no engine has answered yet."""
    group = memory.settings.group
    if memory.now_ms - memory.asked_ms < _ANSWERED_MS:
        return WaitingReason(
            WaitingKind.ASSIGNMENT,
            f"no engine has assigned queues to it yet: `fairlead group check {group}` says "
            "whether one runs",
        )
    return WaitingReason(
        WaitingKind.ENGINE,
        "no engine has answered it: none runs, or its group is held up; "
        f"`fairlead group check {group}` says which",
        memory.asked_ms,
    )


def _engine_reason(memory: Memory) -> WaitingReason | None:
    """Return the reason that the newest engine has given; an older engine's may be over."""
    refusal, notice, generation = memory.refusal, memory.waiting_notice, memory.generation
    # The engine reports each rejected heartbeat: after a lease without one, it accepts them.
    fresh = memory.now_ms - memory.refused_ms <= memory.settings.lease_ms
    if refusal is not None and refusal.generation >= generation and fresh and not memory.queues:
        words = f"the engine rejects its heartbeats: {refusal.message}"
        return WaitingReason(WaitingKind.REJECTED, words)
    if notice is not None and notice.generation >= generation:
        return WaitingReason(_kind_of(notice.reason), notice.message)
    return None


def _kind_of(reason: str | None) -> WaitingKind:
    """Return the kind that an engine's reason names; a newer engine may name others."""
    return next((kind for kind in _FROM_ENGINE if kind.value == reason), WaitingKind.ASSIGNMENT)


def _gated(memory: Memory) -> list[tuple[Queue, list[str]]]:
    """Return the promised queues, each with the clients that have not released it."""
    return [
        (queue.queue, sorted(ids))
        for queue in memory.queues.values()
        if queue.gate is not None
        for ids in [
            {
                holder.client_id
                for holder in queue.gate.after
                if not memory.seen.find(queue.queue, holder)[0]
            }
        ]
        if ids
    ]


def _release_words(gated: list[tuple[Queue, list[str]]]) -> str:
    (topic, broker_name, queue_id), holders = min(gated)
    more = f", and {len(gated) - 1} more queues wait too" if len(gated) > 1 else ""
    queue = f"{topic}/{broker_name}/{queue_id}"
    return f"{queue} waits for its release by {', '.join(holders)}{more}"
