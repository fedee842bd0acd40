"""Steps of the client as a whole: start, lease, heartbeats, leave, new incarnations.

They are handlers of the session half of the transition table. Each takes the session's memory and
the event, and returns the session's next state; the session checks that the table lists it.
"""

from typing import Final

from fairlead_client.errors import DuplicateClientIdError
from fairlead_client.session.actions import (
    NewIncarnationNeeded,
    ReportNotice,
    SendHeartbeat,
    SendLeave,
    StopEverything,
    StopFollowing,
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
    LeaveRequested,
    NoticeRead,
    Started,
    SubscriptionChanged,
    WorkFailed,
)
from fairlead_client.session.memory import OWNED, UNGRANTED, WORKING_ON, Memory
from fairlead_client.session.standing_steps import begin_standing, tell_application
from fairlead_client.session.states import QueueState, SessionState, Signal, Standing

REFUSALS: Final = frozenset({"wrong_partition", "rejected", "unsupported"})
"""The codes of notices that say that the engine rejected a record of this client."""


def ignore(memory: Memory, _event: object) -> SessionState:
    """Ignore an event that means nothing in this state."""
    return memory.state


def start(memory: Memory, event: Started) -> SessionState:
    """Begin an incarnation with an empty memory, except for the releases of others.

    Until a heartbeat is acknowledged, the lease counts from before the first one. Otherwise an
    incarnation whose heartbeats reached the log, but whose acknowledgements got lost, could get
    queues and lose them again without knowing.
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
    begin_standing(memory)
    memory.claims_due_ms = memory.leave_due_ms = memory.hand_over_until_ms = None
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
            standing=memory.reached if memory.settings.stands_by else None,
        ),
    )


def held_digest(memory: Memory) -> str:
    """Return the digest of the queues that the client holds now."""
    words = {
        QueueState.COMMITTING: "held",
        QueueState.WORKING: "held",
        QueueState.LINGERING: "draining",
        QueueState.DRAINING: "draining",
    }
    entries = [
        (queue.queue, queue.started, words[queue.state])
        for queue in memory.queues.values()
        if queue.works and queue.state not in UNGRANTED
    ]
    entries += [
        (queue.queue, queue.gate.epoch, "gated")
        for queue in memory.queues.values()
        if queue.gate is not None
    ]
    return digest(entries)


def extend_lease(memory: Memory, event: HeartbeatAppended) -> SessionState:
    """Extend the lease, counted from before the heartbeat was sent.

    The session has tested the old deadline before, so a late answer does not revive a lease.
    """
    if event.incarnation == memory.incarnation:
        until_ms = event.sent_at_ms + memory.settings.lease_ms
        memory.lease_until_ms = max(memory.lease_until_ms, until_ms)
        if memory.decision_asked is not None and event.sequence >= memory.decision_asked:
            memory.decision_wanted, memory.decision_asked = False, None
    return memory.state


def first_lease(memory: Memory, event: HeartbeatAppended) -> SessionState:
    """Begin the lease after the first heartbeat: the client may work, gates may open."""
    if event.incarnation != memory.incarnation:
        return memory.state
    extend_lease(memory, event)
    # Before its first heartbeat no engine could answer this client.
    memory.asked_ms = memory.now_ms
    tell_application(memory)
    for queue in memory.queues.values():
        memory.signal(queue, Signal.SCAN)
    return SessionState.RUNNING


def retry_heartbeat(memory: Memory, event: HeartbeatFailed) -> SessionState:
    """Send another heartbeat soon, with its own sequence number."""
    if event.incarnation == memory.incarnation:
        soon = memory.now_ms + memory.settings.retry_ms
        memory.heartbeat_at_ms = min(memory.heartbeat_at_ms, soon)
    return memory.state


def read_to_end(memory: Memory, event: AssignmentsReadToEnd) -> SessionState:
    """Note up to when assignments are read: a client that cannot read must not look alive."""
    memory.read_to_end_ms = max(memory.read_to_end_ms, event.at_ms)
    return memory.state


def change_subscription(memory: Memory, event: SubscriptionChanged) -> SessionState:
    """Report the new subscription to the engine at once."""
    memory.subscriptions = event.subscriptions
    memory.heartbeat_at_ms = memory.now_ms
    return memory.state


def want_decision(memory: Memory, _event: object) -> SessionState:
    """Ask the engine for a decision in every heartbeat from now on, until one of them is appended.

    A heartbeat under way may precede the change that the application waits for, so this sends
    another one.
    """
    memory.decision_wanted, memory.decision_asked = True, None
    memory.heartbeat_at_ms = memory.now_ms
    return memory.state


def end_lease(memory: Memory, event: LeaseEnded) -> SessionState:
    """Stop all work and forget all gates; a new incarnation begins after the work has stopped."""
    work = tuple(
        (queue.queue, queue.name)
        for queue in memory.queues.values()
        if queue.state in OWNED | UNGRANTED
    )
    memory.counts["leases_lost"] += 1
    memory.actions.append(StopEverything(event.reason, work))
    for queue in memory.queues.values():
        memory.signal(queue, Signal.FENCE)
    for release in memory.pending.values():
        # The release is true, and spares the successor a wait; but the client does not repeat it.
        if not release.sent and release.position is not None:
            memory.send_release(release)
    memory.pending.clear()
    memory.parts.clear()
    memory.closing = memory.closing or memory.state is SessionState.LEAVING
    memory.hand_over_until_ms = None
    return SessionState.FENCED


def all_stopped(memory: Memory, _event: object) -> SessionState:
    """Begin a new incarnation after all work of a fenced client has stopped, or close."""
    if memory.closing:
        memory.actions.append(Stopped(memory.error))
        return SessionState.CLOSED
    memory.new_incarnation_asked = True
    memory.actions.append(NewIncarnationNeeded("the lease ended"))
    return SessionState.FENCED


def request_leave(memory: Memory, event: object) -> SessionState:
    """Write the leave first, then release everything: at once, or as the engine drops it.

    An engine that read a release before the leave would grant the queue to this client again, and
    get no answer. But what it has not granted stops before the leave: the client never started
    that, so nobody would wait for it.

    With time to hand over, the client works on in the queues that it has, and starts nothing. The
    engine drops them once it knows who goes on, as in any move: nobody waits for its decision.
    """
    memory.closing = True
    if memory.is_loose:
        memory.actions.append(StopFollowing())
    memory.leave_due_ms = memory.now_ms
    if memory.leave_is_due:
        send_leave(memory)
    hand_over_ms = event.hand_over_ms if isinstance(event, LeaveRequested) else 0
    if memory.standing is not Standing.OWN or memory.holds_ungranted:
        hand_over_ms = 0
    memory.hand_over_until_ms = memory.now_ms + hand_over_ms
    for queue in memory.queues.values():
        if queue.state not in WORKING_ON:
            memory.signal(queue, Signal.LEAVE)
        else:
            memory.answer_gate(queue)
    end_hand_over(memory)
    return SessionState.LEAVING


def hurry_leave(memory: Memory, event: LeaveRequested | WorkFailed) -> SessionState:
    """Shorten the time to hand over: the application has less, or cannot work any more."""
    hand_over_ms = event.hand_over_ms if isinstance(event, LeaveRequested) else 0
    if memory.hand_over_until_ms is not None:
        until_ms = memory.now_ms + hand_over_ms
        memory.hand_over_until_ms = min(memory.hand_over_until_ms, until_ms)
        end_hand_over(memory)
    return memory.state


def end_hand_over(memory: Memory) -> None:
    """Stop what nobody has dropped, once the time to hand over has passed."""
    until_ms = memory.hand_over_until_ms
    if until_ms is not None and memory.now_ms >= until_ms:
        memory.stop_working_on()


def leave_fenced(memory: Memory, _event: object) -> SessionState:
    """Close when the work has stopped: the lease is already over."""
    memory.closing = True
    memory.new_incarnation_asked = False
    return SessionState.FENCED


def close_new(memory: Memory, _event: object) -> SessionState:
    """Close at once: the client has not started."""
    memory.actions.append(Stopped(None))
    return SessionState.CLOSED


def fail_work(memory: Memory, event: WorkFailed) -> SessionState:
    """Leave, so that others get the queues: the application cannot start work."""
    memory.error = event.error
    return request_leave(memory, event)


def fail_fenced(memory: Memory, event: WorkFailed) -> SessionState:
    """Close: the application cannot start work, and the lease is already over."""
    memory.error = event.error
    return leave_fenced(memory, event)


def send_leave(memory: Memory) -> None:
    """Write the leave; the client sends heartbeats until it has released everything."""
    memory.sequence += 1
    memory.leave_due_ms = memory.lease_until_ms
    memory.actions.append(SendLeave(memory.incarnation, memory.sequence, memory.last_started))


def left(memory: Memory, event: LeaveAppended) -> SessionState:
    """Note that the leave is in the log; now only releases are left."""
    if event.incarnation == memory.incarnation:
        memory.leave_appended = True
        memory.leave_due_ms = None
    return memory.state


def close_released(memory: Memory, _event: object) -> SessionState:
    """Close: the leave and every release are in the log."""
    memory.actions.append(Stopped(memory.error))
    return SessionState.CLOSED


def retry_leave(memory: Memory, event: LeaveFailed) -> SessionState:
    """Write the leave again soon, until the lease ends."""
    if event.incarnation == memory.incarnation:
        memory.leave_due_ms = memory.now_ms + memory.settings.retry_ms
    return memory.state


def read_notice(memory: Memory, event: NoticeRead) -> SessionState:
    """Obey a notice to this incarnation, or pass it on to the application."""
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
        return end_lease(memory, LeaseEnded("the engine declared this client dead"))
    if notice.code == "waiting":
        memory.waiting_notice = None if notice.reason is None else notice
        return memory.state
    if notice.code in REFUSALS:
        memory.refusal, memory.refused_ms = notice, memory.now_ms
    if notice.code != "duplicate_client_id":
        memory.actions.append(ReportNotice(notice.code, notice.message))
        return memory.state
    if notice.winner is None or notice.winner <= settings.process.rank:
        # The other process stops; this application learns that there was one.
        memory.counts["duplicates_told"] += 1
        memory.actions.append(ReportNotice(notice.code, notice.message))
        return memory.state
    memory.error = DuplicateClientIdError(
        f"client id {settings.client_id!r} is used by another process"
        f" (started {notice.winner[0]} ms, {notice.winner[1]}); give each process its own id",
    )
    if memory.state is SessionState.LEAVING:
        return hurry_leave(memory, LeaveRequested())
    return request_leave(memory, event)
