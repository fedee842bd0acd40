"""Steps of the client's work: assignments, releases, progress, commits, and what is due.

They are handlers of the session half of the transition table. They decide which queues an event
concerns, and send each a signal; `queue_steps` changes the queue.
"""

from collections import defaultdict

from fairlead_client.model import Epoch, Holder, Queue
from fairlead_client.session.actions import SendProgress
from fairlead_client.session.claims import learn_generation, send_claims
from fairlead_client.session.events import (
    AssignmentRead,
    CommitFinished,
    ProgressFailed,
    ProgressMade,
    ReleaseAppended,
    ReleaseFailed,
    ReleaseRead,
    TimePassed,
    WorkStopped,
)
from fairlead_client.session.lifecycle_steps import end_hand_over, send_heartbeat, send_leave
from fairlead_client.session.memory import (
    OWNED,
    STOPPING,
    TIMED,
    UNGRANTED,
    Memory,
    QueueMemory,
)
from fairlead_client.session.records import Assignment, Drop, Release
from fairlead_client.session.standing_steps import hear_standing, send_former
from fairlead_client.session.states import QueueState, SessionState, Signal, Standing


def read_assignment(memory: Memory, event: AssignmentRead) -> SessionState:
    """Apply an assignment to this incarnation once it is complete; ignore a lower generation."""
    record = event.record
    settings = memory.settings
    if (record.group, record.client_id) != (settings.group, settings.client_id):
        return memory.state
    if record.incarnation != memory.incarnation:
        memory.counts["records_of_other_incarnations"] += 1
        return memory.state
    if record.generation < memory.generation:
        memory.counts["records_of_lower_generation"] += 1
        return memory.state
    if learn_generation(memory, record.generation):
        send_claims(memory)
    parts = memory.parts.add(record)
    if parts:
        _apply(memory, parts)
    return memory.state


def _apply(memory: Memory, parts: tuple[Assignment, ...]) -> None:
    if not hear_standing(memory, parts[0]):
        return
    epoch = parts[0].epoch
    memory.applied = epoch if memory.applied is None else max(memory.applied, epoch)
    whole: defaultdict[Queue, set[Epoch]] = defaultdict(set)
    # Drops go before adds, and both before the whole set that repeats them.
    for drop in (drop for part in parts for drop in part.drop):
        memory.signal(memory.queue(drop.queue), Signal.DROP, drop)
    for add in (add for part in parts for add in part.add):
        memory.signal(memory.queue(add.queue), Signal.ADD, add)
    for entry in (entry for part in parts for entry in part.assigned):
        whole[entry.queue].add(entry.epoch)
        queue = memory.queue(entry.queue)
        if entry.state == "draining":
            memory.signal(queue, Signal.DROP, Drop(entry.queue, entry.epoch))
        elif entry.state == "gated" and entry.add is not None:
            memory.signal(queue, Signal.ADD, entry.add)
        elif entry.state == "held" and queue.state is QueueState.FROZEN:
            memory.signal(queue, Signal.HELD, entry.epoch)
    for queue in memory.queues.values():
        epochs = frozenset(whole.get(queue.queue, ()))
        memory.signal(queue, Signal.RESYNC, (epoch, epochs))
        if memory.standing is Standing.OWN and queue.state is QueueState.FROZEN:
            memory.signal(queue, Signal.YIELD)


def read_release(memory: Memory, event: ReleaseRead) -> SessionState:
    """Remember a release of this group; a gate may wait for it."""
    release = event.record
    if release.group != memory.settings.group:
        return memory.state
    memory.seen.remember(release)
    queue = memory.queues.get(release.queue)
    if queue is not None:
        memory.signal(queue, Signal.SCAN)
    return memory.state


def make_progress(memory: Memory, event: ProgressMade) -> SessionState:
    """Note progress in the work of exactly this epoch."""
    queue = _working(memory, event.queue, event.epoch)
    if queue is not None:
        _note_end(queue, event.end)
        if event.idle_ms is not None:
            queue.idle_ms = event.idle_ms
            queue.unsent = True
        memory.signal(queue, Signal.PROGRESS, event.offset)
    return memory.state


def stop_work(memory: Memory, event: WorkStopped) -> SessionState:
    """Note that the application stopped; for an abandoned queue it is too late to matter."""
    queue = _working(memory, event.queue, event.epoch)
    if queue is not None:
        _note_end(queue, event.end)
        memory.signal(queue, Signal.STOPPED, event.offset)
    return memory.state


def _note_end(queue: QueueMemory, end: int | None) -> None:
    if end is not None and end != queue.end:
        queue.end = end
        queue.unsent = True


def _working(memory: Memory, queue: Queue, epoch: Epoch) -> QueueMemory | None:
    known = memory.queues.get(queue)
    return known if known is not None and known.works and known.name == epoch else None


def finish_commit(memory: Memory, event: CommitFinished) -> SessionState:
    """Continue what waited for the commit; a release does not wait for a second attempt."""
    if not event.committed:
        memory.counts["commits_failed"] += 1
    for entry in event.entries:
        release = memory.pending.get((entry.queue, entry.epoch))
        if release is not None and not release.sent and release.position == entry.position:
            memory.send_release(release)
        queue = _working(memory, entry.queue, entry.epoch)
        if queue is None:
            continue
        if event.committed:
            memory.signal(queue, Signal.COMMITTED, entry.position)
        elif queue.state is QueueState.COMMITTING:
            queue.due_ms = memory.now_ms + memory.settings.retry_ms
    return memory.state


def release_appended(memory: Memory, event: ReleaseAppended) -> SessionState:
    """Note that our release is in the log; a gate of our own may wait for it."""
    if event.incarnation != memory.incarnation:
        return memory.state
    memory.pending.pop((event.queue, event.epoch), None)
    settings = memory.settings
    holder = Holder(settings.client_id, event.incarnation, event.epoch)
    release = Release(settings.group, event.queue, holder, event.position)
    return read_release(memory, ReleaseRead(release))


def retry_release(memory: Memory, event: ReleaseFailed) -> SessionState:
    """Write the release again soon."""
    release = memory.pending.get((event.queue, event.epoch))
    if release is not None and event.incarnation == memory.incarnation:
        release.sent = False
        release.due_ms = memory.now_ms + memory.settings.retry_ms
    return memory.state


def retry_progress(memory: Memory, event: ProgressFailed) -> SessionState:
    """Send the lost progress with the next one."""
    for entry in event.entries:
        queue = _working(memory, entry.queue, entry.epoch)
        if queue is not None and event.incarnation == memory.incarnation:
            queue.unsent = True
    return memory.state


def do_what_is_due(memory: Memory, event: TimePassed) -> SessionState:
    """Do what is due under a lease: heartbeats, progress, commits, retries, stops, deadlines."""
    now_ms = memory.now_ms
    stop_draining(memory, event)
    for release in memory.pending.values():
        if not release.sent and release.due_ms <= now_ms:
            memory.send_release(release)
    for queue in memory.queues.values():
        if queue.state in TIMED and queue.due_ms <= now_ms:
            memory.signal(queue, Signal.DUE)
    if memory.claims_due_ms is not None and memory.claims_due_ms <= now_ms:
        send_claims(memory)
    if memory.former_due_ms is not None and memory.former_due_ms <= now_ms:
        send_former(memory)
    if memory.leave_is_due:
        send_leave(memory)
    end_hand_over(memory)
    _heartbeat(memory)
    _progress(memory)
    _commit(memory)
    return memory.state


def stop_draining(memory: Memory, _event: TimePassed) -> SessionState:
    """Force the release of queues that take longer to stop than the drain deadline."""
    limit_ms = memory.settings.drain_deadline_ms
    if limit_ms is None:
        return memory.state
    for queue in memory.queues.values():
        over = memory.now_ms - queue.drain_since_ms >= limit_ms
        if over and queue.state in STOPPING:
            memory.signal(queue, Signal.DRAIN_OVER)
    return memory.state


def _heartbeat(memory: Memory) -> None:
    if memory.heartbeat_at_ms > memory.now_ms:
        return
    if (memory.now_ms - memory.read_to_end_ms) * 3 > memory.settings.lease_ms:
        # A client that cannot read would keep its queues for ever: let its lease end.
        memory.counts["heartbeats_withheld"] += 1
        memory.heartbeat_at_ms = memory.now_ms + memory.settings.retry_ms
        return
    send_heartbeat(memory)


def _progress(memory: Memory) -> None:
    if memory.progress_at_ms > memory.now_ms:
        return
    memory.progress_at_ms = memory.now_ms + memory.settings.progress_ms
    works = [queue for queue in memory.queues.values() if queue.works]
    unsent = [queue for queue in works if queue.unsent and queue.state not in UNGRANTED]
    for queue in unsent:
        queue.unsent = False
    if unsent:
        entries = tuple(queue.progress for queue in unsent)
        memory.actions.append(SendProgress(memory.incarnation, entries))
    for queue in unsent:
        queue.idle_ms = None


def _commit(memory: Memory) -> None:
    if memory.commit_at_ms > memory.now_ms or not memory.settings.commits:
        return
    memory.commit_at_ms = memory.now_ms + memory.settings.commit_ms
    entries = tuple(
        queue.progress
        for queue in memory.queues.values()
        if queue.state in OWNED and queue.position != queue.committed
    )
    if entries:
        memory.commit(entries)
