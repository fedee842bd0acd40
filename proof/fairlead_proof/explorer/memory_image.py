"""Quick copies and images of a client session's memory, without times.

Time does not pass in the searched worlds, so all times, counters and texts for people are set to
one value and left out of the image. Two sessions with the same image answer every event alike.
"""

from collections import Counter, deque
from copy import copy
from dataclasses import fields
from typing import Any

from fairlead_client.session.assignment_assembler import AssignmentAssembler
from fairlead_client.session.memory import Memory, QueueMemory, SessionSettings
from fairlead_client.session.records import Release
from fairlead_client.session.seen_releases import SeenReleases

from fairlead_proof.explorer.frozen import frozen

__all__ = ["FOREVER_MS", "SAME_IN_ALL", "SETTLED", "copied", "image", "settle"]

FOREVER_MS = 10**9
"""Later than everything: an event at this time never becomes due."""

SETTLED: dict[str, Any] = {
    "now_ms": 0,
    "sequence": 1,
    "lease_until_ms": FOREVER_MS,
    "applied": None,
    "read_to_end_ms": 0,
    "heartbeat_at_ms": FOREVER_MS,
    "heartbeat_sent_ms": 0,
    "progress_at_ms": 0,
    "commit_at_ms": FOREVER_MS,
    "refusal": None,
    "asked_ms": 0,
    "refused_ms": 0,
}
"""Fields of a session's memory that hold times, or only serve records and people."""

SETTLED_OF_QUEUES: dict[str, Any] = {
    "drain_since_ms": 0,
    "end": None,
    "idle_ms": None,
    "unsent": False,
    "handed": None,
    "due_ms": 0,
}
"""The same for a queue's memory: times, measures, and what was sent or committed."""

SAME_IN_ALL = frozenset(
    {"settings", "subscriptions", "parts", "counts", "error", "actions", "signals", "seen"}
)
"""Fields that are the same in all sessions between two events, or checked separately."""

_LEFT_OUT = SAME_IN_ALL.union(SETTLED, SETTLED_OF_QUEUES)
_KEPT = tuple(each.name for each in fields(Memory) if each.name not in _LEFT_OUT)


def settings_of(group: str, client_id: str, process: Any, subscriptions: Any) -> SessionSettings:
    """Return settings under which only progress is due, at once."""
    return SessionSettings(
        group,
        client_id,
        process,
        subscriptions,
        heartbeat_ms=FOREVER_MS,
        lease_ms=FOREVER_MS,
        progress_ms=0,
        commit_ms=FOREVER_MS,
        drain_deadline_ms=None,
        commits=False,
        pace_ms=FOREVER_MS,
        gather_ms=0,
    )


def settle(memory: Memory) -> None:
    """Set everything outside the image to its one value."""
    for name, value in SETTLED.items():
        setattr(memory, name, value)
    for queue in memory.queues.values():
        for name, value in SETTLED_OF_QUEUES.items():
            setattr(queue, name, value)
    for release in memory.pending.values():
        release.due_ms = 0
    if not memory.works_on:
        memory.hand_over_until_ms = None
    memory.counts.clear()
    memory.seen = _seen_by_gates(memory)


def image(memory: Memory) -> Any:
    """Return the memory of a settled session as a hashable value."""
    seen = [
        (queue.queue, holder, memory.seen.find(queue.queue, holder))
        for queue in memory.queues.values()
        if queue.gate is not None
        for holder in queue.gate.after
    ]
    kept = [frozen(getattr(memory, name), _LEFT_OUT) for name in _KEPT]
    return (*kept, tuple(sorted(seen, key=repr)))


def copied(memory: Memory) -> Memory:
    """Return a copy that can change without changing the original."""
    fresh = copy(memory)
    for each in fields(memory):
        value = getattr(memory, each.name)
        if isinstance(value, dict):
            held = {key: _copied(entry) for key, entry in value.items()}
            setattr(fresh, each.name, Counter(held) if isinstance(value, Counter) else held)
    fresh.actions, fresh.signals, fresh.parts = [], deque(), AssignmentAssembler()
    fresh.seen = _seen_by_gates(memory)
    return fresh


def _copied(entry: Any) -> Any:
    return copy(entry) if hasattr(entry, "__dataclass_fields__") else entry


def _seen_by_gates(memory: Memory) -> SeenReleases:
    """Return only the releases that a present gate waits for.

    A client may forget any other release, and may read it again at any time.
    """
    seen = SeenReleases()
    for queue in memory.queues.values():
        for holder in queue.gate.after if queue.gate is not None else ():
            found, position = memory.seen.find(queue.queue, holder)
            if found:
                seen.remember(Release(memory.settings.group, queue.queue, holder, position))
    return seen


def works_of(queues: dict[Any, QueueMemory]) -> tuple[QueueMemory, ...]:
    """Return the queues under work, in order."""
    return tuple(queues[name] for name in sorted(queues) if queues[name].works)
