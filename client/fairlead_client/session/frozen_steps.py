"""Steps of a queue that the application holds without a grant: frozen, or about to stop.

They are handlers of the queue half of the transition table. While the application works on such a
queue, the client neither starts it again nor says that it never did: a grant is taken in place, and
a drop waits for the stop and says where that was.
"""

from dataclasses import replace
from typing import cast

from fairlead_client.model import EPOCH_ZERO, Epoch, Position
from fairlead_client.session.actions import AbandonWork, StartWork, StopWork
from fairlead_client.session.memory import Memory, QueueMemory
from fairlead_client.session.queue_steps import add, drop_working, resting
from fairlead_client.session.records import Add, Drop
from fairlead_client.session.states import QueueState, Signal

__all__ = [
    "adopt_add",
    "adopt_dropped",
    "adopt_held",
    "drop_yielding",
    "fence_ungranted",
    "freeze",
    "give_up",
    "give_up_draining",
    "progress",
    "resync_ungranted",
    "void_ungranted",
    "yield_frozen",
    "yielded",
    "yielding_over",
]


def freeze(_memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Note a queue that the application holds, by the name that it has for the application."""
    epoch, offset = cast("tuple[Epoch, int | None]", detail)
    queue.frozen = epoch
    queue.frozen_at = offset if offset is not None else queue.frozen_at
    return QueueState.FROZEN


def adopt_add(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Go on in place under a grant; one that waits for others lets the application stop first."""
    offered = cast("Add", detail)
    if offered.epoch <= queue.top:
        return add(memory, queue, detail)
    if offered.after:
        add(memory, queue, detail)
        return yield_frozen(memory, queue, None)
    return _adopt(memory, queue, offered.epoch, offered)


def adopt_held(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Go on in place: the whole set says that the client holds the queue, and the add got lost."""
    epoch = cast("Epoch", detail)
    if epoch <= queue.top or queue.frozen_at is None:
        return queue.state
    return _adopt(memory, queue, epoch, None)


def adopt_dropped(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Stop under the dropped epoch: the add got lost, and the application works all the same."""
    dropped = cast("Drop", detail)
    if dropped.epoch <= queue.top:
        return queue.state
    _adopt(memory, queue, dropped.epoch, None)
    return drop_working(memory, queue, detail)


def _adopt(memory: Memory, queue: QueueMemory, epoch: Epoch, granted: Add | None) -> QueueState:
    base = Position(0, queue.frozen_at or 0) if granted is None else granted.position
    offset = base.offset if queue.frozen_at is None else queue.frozen_at
    queue.started = queue.top = epoch
    queue.position = queue.start = Position(base.reset, offset)
    queue.granted = base
    queue.identity = None if granted is None else granted.identity
    queue.gate = queue.committed = queue.handed = queue.successor = None
    queue.end = queue.idle_ms = None
    queue.frozen = queue.frozen_at = None
    queue.unsent = True
    memory.counts["adopted"] += 1
    memory.changed()
    soon_ms = memory.now_ms + memory.settings.gather_ms
    memory.progress_at_ms = min(memory.progress_at_ms, soon_ms)
    memory.actions.append(StartWork(queue.queue, epoch, queue.position, former=True))
    return QueueState.WORKING


def yield_frozen(memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Stop the work: the engine has not granted it, or the client leaves."""
    queue.drain_since_ms = memory.now_ms
    memory.actions.append(StopWork(queue.queue, queue.name))
    memory.changed()
    return QueueState.YIELDING


def drop_yielding(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Release where the work stops, which it already does, and not before."""
    dropped = cast("Drop", detail)
    if dropped.epoch <= queue.top:
        return queue.state
    queue.started = queue.top = dropped.epoch
    queue.position = queue.start = queue.granted = Position(0, queue.frozen_at or 0)
    queue.successor, queue.identity = dropped.successor, None
    if queue.gate is not None and queue.gate.epoch <= dropped.epoch:
        queue.gate = None
    memory.changed()
    return QueueState.DRAINING


def progress(_memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Note where the work is; the engine hears of it once it has granted the queue."""
    queue.frozen_at = cast("int", detail)
    return queue.state


def yielded(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """The work has stopped; a gate behind it opens no earlier than where that was."""
    offset = cast("int | None", detail)
    at = queue.frozen_at if offset is None else offset
    gate = queue.gate
    if gate is not None and at is not None and at > gate.base.offset:
        queue.gate = replace(gate, base=Position(gate.base.reset, at))
    queue.frozen = queue.frozen_at = None
    memory.changed()
    memory.signal(queue, Signal.SCAN)
    return resting(queue)


def yielding_over(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Count the work as stopped, without waiting longer for the application."""
    memory.actions.append(AbandonWork(queue.queue, queue.name))
    return yielded(memory, queue, detail)


def resync_ungranted(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Void a gate that the whole set does not name."""
    upto, epochs = cast("tuple[Epoch, frozenset[Epoch]]", detail)
    gate = queue.gate
    if gate is not None and gate.epoch <= upto and gate.epoch not in epochs:
        memory.signal(queue, Signal.DROP, Drop(queue.queue, gate.epoch))
    return queue.state


def void_ungranted(memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Refuse grants of lower generations; the work goes on as it was."""
    queue.top = max(queue.top, Epoch(memory.generation, 0))
    queue.gate = None
    return queue.state


def fence_ungranted(memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Stop the work at once: the lease is over."""
    queue.gate = None
    queue.drain_since_ms = memory.now_ms
    return QueueState.YIELDING


def give_up(memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Forget the queue's epochs; if the application holds it, it goes on, and nothing names it."""
    _forget(memory, queue)
    queue.frozen = queue.frozen_at = None
    return QueueState.IDLE


def give_up_draining(memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Forget the queue's epochs; the application stops, by the name that it knows."""
    name, offset = queue.name, queue.position.offset
    _forget(memory, queue)
    queue.frozen, queue.frozen_at = name, offset
    return QueueState.YIELDING


def _forget(memory: Memory, queue: QueueMemory) -> None:
    queue.started, queue.top = EPOCH_ZERO, memory.lowest
    queue.gate = queue.successor = None
    queue.unsent = False
