"""Why a client that could work does not: from what it has read itself, and been told (ADR 0184)."""

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
    """No heartbeat of it is acknowledged: it has no lease yet, or its lease has ended."""
    ENGINE = "engine"
    """No engine has ever claimed these topics, or none has answered it for long."""
    ASSIGNMENT = "assignment"
    """No engine has told it yet what it is to have."""
    PAUSED = "paused"
    """Its group is paused: nothing is shared anew."""
    DRAINED = "drained"
    """It is drained: it is given nothing."""
    DESIGNATED = "designated"
    """Others are designated to consume, or the group is released to native consumers."""
    REJECTED = "rejected"
    """An engine has just rejected what it sent: of a client that has nothing, its heartbeat."""
    ROOM = "room"
    """The engine keeps as much of all groups as it may, and takes up no further topic."""
    TOPIC = "topic"
    """A topic that it subscribes to does not exist: a bridge has said so."""
    BRIDGE = "bridge"
    """The engine has asked about a topic that it subscribes to, and no bridge has answered."""
    RELEASE = "release"
    """A queue is promised to it, and whoever had it before has not released it yet."""


_FROM_ENGINE: Final = (
    *(WaitingKind.PAUSED, WaitingKind.DRAINED, WaitingKind.DESIGNATED),
    *(WaitingKind.ROOM, WaitingKind.TOPIC, WaitingKind.BRIDGE),
)
"""The kinds that an engine tells."""

_ANSWERED_MS: Final = 20_000
"""By then an engine that ticks has told a newcomer its queues, or what else it waits for. Windows
that are set longer (`settle_ms`, `trigger_ms`) and a barrier of a long lease may take more."""


@dataclass(frozen=True, slots=True)
class WaitingReason:
    """What is waited for, the same in words, and since when where that is known.

    `since_ms` is of the session's clock; None: since it is the reason.
    """

    kind: WaitingKind
    words: str
    since_ms: int | None = None


def reason_to_wait(memory: Memory) -> WaitingReason | None:
    """Return what keeps a client from work; None: it has all that it was promised, or it leaves."""
    if memory.state in (SessionState.NEW, SessionState.STARTING):
        return WaitingReason(WaitingKind.HEARTBEAT, "its first heartbeat is not acknowledged yet")
    if memory.state is SessionState.FENCED:
        return WaitingReason(
            WaitingKind.HEARTBEAT,
            "its lease has ended; it joins anew once its work has stopped and it can read its "
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
    told = _engine_reason(memory)
    if told is not None:
        return told
    return _unanswered(memory) if memory.applied is None else None


def _unanswered(memory: Memory) -> WaitingReason:
    """Return what a newcomer waits for that no engine has told anything yet."""
    group = memory.settings.group
    if memory.now_ms - memory.asked_ms < _ANSWERED_MS:
        return WaitingReason(
            WaitingKind.ASSIGNMENT,
            f"no engine has told it its queues yet: `fairlead group check {group}` says whether "
            "one ticks",
        )
    return WaitingReason(
        WaitingKind.ENGINE,
        "no engine has answered it; none ticks, or its group is held up: "
        f"`fairlead group check {group}` says which",
        memory.asked_ms,
    )


def _engine_reason(memory: Memory) -> WaitingReason | None:
    """Return what an engine has said; each says it anew: what the one before said may be over."""
    refusal, told, generation = memory.refusal, memory.waiting_notice, memory.generation
    # Each heartbeat that is rejected is told: where none was for a lease they are taken.
    fresh = memory.now_ms - memory.refused_ms <= memory.settings.lease_ms
    if refusal is not None and refusal.generation >= generation and fresh and not memory.queues:
        words = f"the engine rejects its heartbeats: {refusal.message}"
        return WaitingReason(WaitingKind.REJECTED, words)
    if told is not None and told.generation >= generation:
        return WaitingReason(_kind_of(told.reason), told.message)
    return None


def _kind_of(reason: str | None) -> WaitingKind:
    """Return the kind of what an engine said; a newer one may know more words."""
    return next((kind for kind in _FROM_ENGINE if kind.value == reason), WaitingKind.ASSIGNMENT)


def _gated(memory: Memory) -> list[tuple[Queue, list[str]]]:
    """Return the queues that are promised, each with the clients that have not released it."""
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
    more = f", and {len(gated) - 1} more queues wait likewise" if len(gated) > 1 else ""
    return f"{topic}/{broker_name}/{queue_id} is not released yet by {', '.join(holders)}{more}"
