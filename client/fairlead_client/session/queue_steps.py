"""Steps of one queue: the handlers of the queue half of the transition table.

This is the client's table in the handover protocol. Each handler takes the session's memory, the
queue's memory and a detail. It changes the queue, appends actions, and returns the queue's next
state; the session checks that the table lists it.
"""

from typing import cast

from fairlead_client.errors import UnlistedTransitionError
from fairlead_client.model import Epoch, Position
from fairlead_client.session.actions import AbandonWork, SendProgress, StartWork, StopWork
from fairlead_client.session.memory import Gate, Memory, QueueMemory
from fairlead_client.session.records import Add, Drop
from fairlead_client.session.states import QueueState, SessionState, Signal

LINGER_MS_MAX = 1_000
"""The longest time that a client works on after a drop, whatever the engine says."""


def stay(_memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Do nothing in this state."""
    return queue.state


def resting(queue: QueueMemory) -> QueueState:
    """Return the state of a queue without work."""
    return QueueState.IDLE if queue.gate is None else QueueState.GATED


def add(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Apply an add, a gated add or a grant: all are one message.

    For a repeated epoch the gate keeps the holders that both lists name, and the greater base, so
    records may be late, repeated or reordered. A newer epoch replaces an older gate.
    """
    offered = cast("Add", detail)
    gate = queue.gate
    if offered.epoch == queue.started and queue.works:
        memory.counts["grants_after_start"] += 1
        return queue.state
    if offered.epoch <= queue.top or (gate is not None and offered.epoch < gate.epoch):
        memory.counts["adds_refused"] += 1
        return queue.state
    if gate is None or offered.epoch > gate.epoch:
        queue.gate = Gate(offered.epoch, offered.position, offered.after, offered.identity)
    else:
        both = tuple(holder for holder in gate.after if holder in offered.after)
        memory.counts["grants_before_start"] += len(both) < len(gate.after)
        queue.gate = Gate(gate.epoch, max(gate.base, offered.position), both, gate.identity)
    if gate is None or queue.gate.epoch != gate.epoch:
        memory.changed()
    if memory.state is SessionState.LEAVING:
        memory.answer_gate(queue)
    else:
        memory.signal(queue, Signal.SCAN)
    return queue.state if queue.works else QueueState.GATED


def scan(memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Open the gate if the releases read prove that every possible holder has stopped.

    This reads the list from the newest holder to the oldest. A position proves that all older
    holders have stopped too; None proves only that this holder never started.
    """
    gate = queue.gate
    if gate is None or memory.state is not SessionState.RUNNING or memory.is_loose:
        return queue.state
    position, handed = gate.base, None
    for holder in sorted(gate.after, key=lambda holder: holder.epoch, reverse=True):
        seen, released = memory.seen.find(queue.queue, holder)
        if not seen:
            return queue.state
        if released is not None:
            # The engine knows every reset first. A reset that it does not know was made up, and
            # would hide all progress here, and every later reset, from the engine.
            if released.reset <= gate.base.reset:
                position = max(gate.base, released)
                handed = released
            else:
                memory.counts["releases_doubted"] += 1
            break
    return _start(memory, queue, gate, position, handed)


def _start(
    memory: Memory, queue: QueueMemory, gate: Gate, position: Position, handed: Position | None
) -> QueueState:
    epoch = gate.epoch
    assert epoch > queue.started
    assert epoch > queue.top
    queue.started = queue.top = epoch
    queue.position, queue.identity = position, gate.identity
    queue.start, queue.granted = position, gate.base
    queue.gate = None
    queue.committed = None
    queue.handed = handed
    queue.successor = None
    queue.end = queue.idle_ms = None
    queue.unsent = True
    memory.counts["starts"] += 1
    memory.changed()
    soon_ms = memory.now_ms + memory.settings.gather_ms
    memory.progress_at_ms = min(memory.progress_at_ms, soon_ms)
    if position.reset > 0 and memory.settings.commits:
        # Without it, a crash before the first progress would restore the old offset.
        return _commit_reset(memory, queue)
    memory.actions.append(StartWork(queue.queue, epoch, position))
    return QueueState.WORKING


def _commit_reset(memory: Memory, queue: QueueMemory) -> QueueState:
    queue.due_ms = memory.now_ms + memory.settings.commit_timeout_ms
    memory.commit((queue.progress,))
    return QueueState.COMMITTING


def retry_commit(memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Commit the reset again: the application must not read the queue before."""
    return _commit_reset(memory, queue)


def committed(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Start the work after the commit of the reset."""
    queue.committed = cast("Position", detail)
    memory.actions.append(StartWork(queue.queue, queue.started, queue.position))
    return QueueState.WORKING


def remember_commit(_memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Note which position of the running work the data plane has."""
    queue.committed = cast("Position", detail)
    return queue.state


def drop(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Answer the drop of an epoch without running work.

    A started epoch already has its true release in the log, so the answer is never None for it. An
    epoch that was not started never will be: `top` records that before the answer.
    """
    dropped = cast("Drop", detail)
    epoch = dropped.epoch
    if epoch <= queue.started:
        return queue.state
    queue.top = max(queue.top, epoch)
    if queue.gate is not None and queue.gate.epoch <= epoch:
        queue.gate = None
    memory.release(queue, epoch, None, dropped.successor)
    memory.changed()
    return queue.state if queue.works else resting(queue)


def drop_committing(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Release work that has not begun, at the position where it would have begun."""
    dropped = cast("Drop", detail)
    if dropped.epoch != queue.started:
        return drop(memory, queue, detail)
    queue.successor = dropped.successor
    return _finish(memory, queue)


def drop_working(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Stop the work of this epoch, at once or when it is this client's turn."""
    dropped = cast("Drop", detail)
    if dropped.epoch != queue.started:
        return drop(memory, queue, detail)
    queue.successor = dropped.successor
    if dropped.linger_ms > 0:
        queue.due_ms = memory.now_ms + min(dropped.linger_ms, LINGER_MS_MAX)
        memory.changed()
        return QueueState.LINGERING
    return _drain(memory, queue)


def end_lingering(memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Stop the work: it is the queue's turn."""
    return _drain(memory, queue)


def _drain(memory: Memory, queue: QueueMemory) -> QueueState:
    queue.drain_since_ms = memory.now_ms
    memory.counts["revocations"] += 1
    memory.actions.append(StopWork(queue.queue, queue.started))
    memory.changed()
    return QueueState.DRAINING


def resync(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Drop what the whole set does not name, unless it is newer than the set."""
    upto, epochs = cast("tuple[Epoch, frozenset[Epoch]]", detail)
    gate = queue.gate
    if gate is not None and gate.epoch <= upto and gate.epoch not in epochs:
        memory.signal(queue, Signal.DROP, Drop(queue.queue, gate.epoch))
    if queue.works and queue.started <= upto and queue.started not in epochs:
        memory.signal(queue, Signal.DROP, Drop(queue.queue, queue.started))
    return queue.state


def void(memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Void the gate at a newer generation, and refuse adds of lower ones; work goes on."""
    queue.top = max(queue.top, Epoch(memory.generation, 0))
    if queue.gate is not None:
        queue.gate = None
        memory.changed()
    return queue.state if queue.works else resting(queue)


def progress(_memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Note progress; it goes back only if the start of the work lay outside of the queue."""
    _reach(queue, cast("int", detail))
    return queue.state


def _reach(queue: QueueMemory, offset: int) -> None:
    reached = Position(queue.position.reset, offset)
    if queue.start <= reached <= queue.position:
        return
    queue.position = reached
    queue.start = min(queue.start, reached)
    queue.unsent = True


def stopped(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Release the queue where its work has stopped."""
    offset = cast("int | None", detail)
    if offset is not None:
        _reach(queue, offset)
    return _finish(memory, queue)


def stopped_leaving(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Release the queue of a client that leaves, and that stops what nobody has dropped yet."""
    if memory.state is not SessionState.LEAVING:
        raise UnlistedTransitionError(f"stopped of {queue.queue} in {queue.state.value}")
    return stopped(memory, queue, detail)


def drain_over(memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Release the queue at its progress, without waiting longer for the application."""
    memory.counts["forced_releases"] += 1
    memory.actions.append(AbandonWork(queue.queue, queue.name))
    return _finish(memory, queue)


def _finish(memory: Memory, queue: QueueMemory) -> QueueState:
    if queue.unsent and queue.end is not None and memory.state is not SessionState.FENCED:
        # The engine accepts a release only up to an end that it knows.
        memory.actions.append(SendProgress(memory.incarnation, (queue.progress,)))
    queue.unsent = False
    queue.frozen = queue.frozen_at = None
    memory.release(queue, queue.started, queue.position, queue.successor)
    memory.changed()
    memory.signal(queue, Signal.SCAN)
    return resting(queue)


def leave(memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Answer the gate with None, because the client leaves."""
    memory.answer_gate(queue)
    return queue.state


def leave_committing(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Release work that has not begun, because the client leaves."""
    leave(memory, queue, detail)
    return _finish(memory, queue)


def leave_working(memory: Memory, queue: QueueMemory, detail: object) -> QueueState:
    """Stop the work, because the client leaves."""
    leave(memory, queue, detail)
    return _drain(memory, queue)


def fence(_memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Forget the gate without an answer: the lease is over."""
    queue.gate = None
    return QueueState.IDLE


def fence_working(memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Stop the work at once: the lease is over."""
    queue.gate = None
    queue.drain_since_ms = memory.now_ms
    return QueueState.DRAINING


def fence_draining(_memory: Memory, queue: QueueMemory, _detail: object) -> QueueState:
    """Forget the gate of a queue whose work already stops: the lease is over."""
    queue.gate = None
    return QueueState.DRAINING
