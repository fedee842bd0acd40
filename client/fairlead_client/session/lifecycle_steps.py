"""What happens to the client as a whole: start, lease, heartbeats, leave, new incarnations.

Handlers of the session half of the transition table. Each takes the session's memory and the event,
and returns the session's next state; the machine checks that the table lists it.
"""

from typing import Final

from fairlead_client.errors import DuplicateClientIdError
from fairlead_client.session.actions import (
    NewIncarnationNeeded,
    ReportNotice,
    SendHeartbeat,
    SendLeave,
    StopEverything,
    Stopped,
)
from fairlead_client.session.claims import send_claims
from fairlead_client.session.digest import digest
from fairlead_client.session.events import (
    AssignmentsReadToEnd,
    HeartbeatAppended,
    HeartbeatFailed,
    LeaseEnded,
    LeaveAppended,
    LeaveFailed,
    NoticeRead,
    Started,
    SubscriptionChanged,
    WorkFailed,
)
from fairlead_client.session.memory import OWNED, Memory
from fairlead_client.session.states import QueueState, SessionState, Signal

REFUSALS: Final = frozenset({"wrong_partition", "rejected", "unsupported"})
"""Codes of the notices that a record of this client was rejected."""


def ignore(memory: Memory, _event: object) -> SessionState:
    """The event has no meaning any more, or not yet."""
    return memory.state


def start(memory: Memory, event: Started) -> SessionState:
    """Begin an incarnation with a blank memory; only what others released stays known.

    The lease counts from before the first heartbeat until one is acknowledged: an incarnation whose
    heartbeats were appended but never acknowledged may have been given queues, and have lost them
    again, without knowing.
    """
    assert memory.state is SessionState.NEW or memory.new_incarnation_asked
    assert event.incarnation != memory.incarnation, "an incarnation is never used twice"
    memory.incarnation = event.incarnation
    memory.incarnations += 1
    memory.new_incarnation_asked = False
    memory.generation = max(memory.generation, event.generation)
    memory.sequence = 0
    memory.decision_asked = None
    memory.applied = None
    memory.asked_ms = memory.now_ms
    memory.waiting_notice = memory.refusal = None
    memory.queues.clear()
    memory.pending.clear()
    memory.parts.clear()
    memory.claims_due_ms = memory.leave_due_ms = None
    memory.leave_appended = False
    memory.lease_until_ms = memory.now_ms + memory.settings.lease_ms
    memory.read_to_end_ms = memory.now_ms
    memory.progress_at_ms = memory.now_ms + memory.settings.progress_ms
    memory.commit_at_ms = memory.now_ms + memory.settings.commit_ms
    send_heartbeat(memory)
    send_claims(memory)
    return SessionState.STARTING


def send_heartbeat(memory: Memory) -> None:
    """Write a heartbeat now."""
    memory.sequence += 1
    if memory.decision_wanted and memory.decision_asked is None:
        memory.decision_asked = memory.sequence
    memory.heartbeat_sent_ms = memory.now_ms
    memory.heartbeat_at_ms = memory.now_ms + memory.settings.heartbeat_ms
    memory.actions.append(
        SendHeartbeat(
            incarnation=memory.incarnation,
            incarnations=memory.incarnations,
            sequence=memory.sequence,
            generation=memory.generation,
            subscriptions=memory.subscriptions,
            applied=memory.applied,
            digest=held_digest(memory),
            decide=memory.decision_wanted,
        ),
    )


def held_digest(memory: Memory) -> str:
    """Return the digest of what the client holds now."""
    words = {
        QueueState.COMMITTING: "held",
        QueueState.WORKING: "held",
        QueueState.LINGERING: "draining",
        QueueState.DRAINING: "draining",
    }
    entries = [
        (queue.queue, queue.started, words[queue.state])
        for queue in memory.queues.values()
        if queue.works
    ]
    entries += [
        (queue.queue, queue.gate.epoch, "gated")
        for queue in memory.queues.values()
        if queue.gate is not None
    ]
    return digest(entries)


def extend_lease(memory: Memory, event: HeartbeatAppended) -> SessionState:
    """A heartbeat is in the log: the lease counts from before it was sent.

    The machine has tested the old deadline before this runs, so a late answer revives nothing.
    """
    if event.incarnation == memory.incarnation:
        until_ms = event.sent_at_ms + memory.settings.lease_ms
        memory.lease_until_ms = max(memory.lease_until_ms, until_ms)
        if memory.decision_asked is not None and event.sequence >= memory.decision_asked:
            memory.decision_wanted, memory.decision_asked = False, None
    return memory.state


def first_lease(memory: Memory, event: HeartbeatAppended) -> SessionState:
    """The first heartbeat is in the log: the client may work, gates may open."""
    if event.incarnation != memory.incarnation:
        return memory.state
    extend_lease(memory, event)
    # Nobody can have answered whom nobody has heard.
    memory.asked_ms = memory.now_ms
    for queue in memory.queues.values():
        memory.signal(queue, Signal.SCAN)
    return SessionState.RUNNING


def retry_heartbeat(memory: Memory, event: HeartbeatFailed) -> SessionState:
    """Send another soon; it has a sequence number of its own."""
    if event.incarnation == memory.incarnation:
        soon = memory.now_ms + memory.settings.retry_ms
        memory.heartbeat_at_ms = min(memory.heartbeat_at_ms, soon)
    return memory.state


def read_to_end(memory: Memory, event: AssignmentsReadToEnd) -> SessionState:
    """Assignments are known up to this time; a client that cannot read must not look alive."""
    memory.read_to_end_ms = max(memory.read_to_end_ms, event.at_ms)
    return memory.state


def change_subscription(memory: Memory, event: SubscriptionChanged) -> SessionState:
    """Tell the engine at once."""
    memory.subscriptions = event.subscriptions
    memory.heartbeat_at_ms = memory.now_ms
    return memory.state


def want_decision(memory: Memory, _event: object) -> SessionState:
    """Ask the engine for a decision in a heartbeat at once, and until one that asks is appended.

    One that is under way may be read before what the application waits for: another is sent.
    """
    memory.decision_wanted, memory.decision_asked = True, None
    memory.heartbeat_at_ms = memory.now_ms
    return memory.state


def end_lease(memory: Memory, event: LeaseEnded) -> SessionState:
    """Stop all, forget all gates and adds; a new incarnation comes after the work has stopped."""
    work = tuple(
        (queue.queue, queue.started) for queue in memory.queues.values() if queue.state in OWNED
    )
    memory.counts["leases_lost"] += 1
    memory.actions.append(StopEverything(event.reason, work))
    for queue in memory.queues.values():
        memory.signal(queue, Signal.FENCE)
    for release in memory.pending.values():
        # True all the same, and it spares the successor a wait; but it is not tried again.
        if not release.sent and release.position is not None:
            memory.send_release(release)
    memory.pending.clear()
    memory.parts.clear()
    memory.closing = memory.closing or memory.state is SessionState.LEAVING
    return SessionState.FENCED


def all_stopped(memory: Memory, _event: object) -> SessionState:
    """A fenced client works on nothing: it begins anew, or closes if it was leaving."""
    if memory.closing:
        memory.actions.append(Stopped(memory.error))
        return SessionState.CLOSED
    memory.new_incarnation_asked = True
    memory.actions.append(NewIncarnationNeeded("the lease ended"))
    return SessionState.FENCED


def request_leave(memory: Memory, _event: object) -> SessionState:
    """Say so first, then stop and release everything.

    A release that the engine reads before it knows of the leave would make it grant the queue to
    this client again, which would answer no more.
    """
    memory.closing = True
    send_leave(memory)
    for queue in memory.queues.values():
        memory.signal(queue, Signal.LEAVE)
    return SessionState.LEAVING


def leave_fenced(memory: Memory, _event: object) -> SessionState:
    """The lease is over already: close when the work has stopped."""
    memory.closing = True
    memory.new_incarnation_asked = False
    return SessionState.FENCED


def close_new(memory: Memory, _event: object) -> SessionState:
    """Nothing was started: close."""
    memory.actions.append(Stopped(None))
    return SessionState.CLOSED


def fail_work(memory: Memory, event: WorkFailed) -> SessionState:
    """The application cannot take queues: leave, so that others can."""
    memory.error = event.error
    return request_leave(memory, event)


def fail_fenced(memory: Memory, event: WorkFailed) -> SessionState:
    """The application cannot take queues, and the lease is over already: close."""
    memory.error = event.error
    return leave_fenced(memory, event)


def send_leave(memory: Memory) -> None:
    """Write the leave; the client heartbeats on until it has released everything."""
    memory.sequence += 1
    memory.leave_due_ms = memory.lease_until_ms
    memory.actions.append(SendLeave(memory.incarnation, memory.sequence, memory.last_started))


def left(memory: Memory, event: LeaveAppended) -> SessionState:
    """The leave is in the log: what is left to do is to release."""
    if event.incarnation == memory.incarnation:
        memory.leave_appended = True
        memory.leave_due_ms = None
    return memory.state


def close_released(memory: Memory, _event: object) -> SessionState:
    """The leave and every release are in the log: done."""
    memory.actions.append(Stopped(memory.error))
    return SessionState.CLOSED


def retry_leave(memory: Memory, event: LeaveFailed) -> SessionState:
    """Try again, until the lease ends."""
    if event.incarnation == memory.incarnation:
        memory.leave_due_ms = memory.now_ms + memory.settings.retry_ms
    return memory.state


def read_notice(memory: Memory, event: NoticeRead) -> SessionState:
    """Obey a notice to this incarnation; pass on what is for people."""
    notice = event.record
    settings = memory.settings
    mine = (notice.group, notice.client_id, notice.incarnation)
    if (
        mine != (settings.group, settings.client_id, memory.incarnation)
        or notice.generation < memory.generation
    ):
        return memory.state
    memory.asked_ms = memory.now_ms
    if notice.code == "lapsed":
        return end_lease(memory, LeaseEnded("the engine took this client for dead"))
    if notice.code == "waiting":
        memory.waiting_notice = None if notice.reason is None else notice
        return memory.state
    if notice.code in REFUSALS:
        memory.refusal, memory.refused_ms = notice, memory.now_ms
    if notice.code != "duplicate_client_id":
        memory.actions.append(ReportNotice(notice.code, notice.message))
        return memory.state
    if notice.winner is None or notice.winner <= settings.process.rank:
        # The other one stops; this one's application shall know that there was one.
        memory.counts["duplicates_told"] += 1
        memory.actions.append(ReportNotice(notice.code, notice.message))
        return memory.state
    memory.error = DuplicateClientIdError(
        f"client id {settings.client_id!r} is used by another process"
        f" (started {notice.winner[0]} ms, {notice.winner[1]}); give each process its own",
    )
    if memory.state is SessionState.LEAVING:
        return memory.state
    return request_leave(memory, event)
