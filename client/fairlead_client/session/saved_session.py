"""A session as values, so that another process may go on with it.

`save` and `restore` decide what must outlive the memory of one process: what the client has started
and where it stands, and which words are not yet known to be in the log. Gates and the releases of
others are not part of it: whoever goes on reads the engine's newest word for the client again.
Whoever goes on must ignore assignments older than `applied`.
"""

from dataclasses import dataclass

from fairlead_client.model import EPOCH_ZERO, POSITION_ZERO, Epoch, Position, Queue
from fairlead_client.session.memory import PendingRelease, QueueMemory, SessionSettings
from fairlead_client.session.session import Session
from fairlead_client.session.states import QueueState, SessionState, Standing

__all__ = ["SavedQueue", "SavedRelease", "SavedSession", "SavedStanding", "restore", "save"]


@dataclass(frozen=True, slots=True)
class SavedQueue:
    """One queue that the incarnation has started.

    Attributes:
        queue: the queue.
        started: the newest epoch under which work was started.
        works: whether the application may still work on it.
        position: the next position to read.
        identity: the topic's identity that the position belongs to.
        successor: the client that waits for the release, if known.
        draining_since_ms: when the application was asked to stop; None: it was not.
    """

    queue: Queue
    started: Epoch
    works: bool
    position: Position
    identity: str | None = None
    successor: str | None = None
    draining_since_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SavedRelease:
    """A release that may not be in the log; without a position, the work was never started."""

    queue: Queue
    epoch: Epoch
    position: Position | None
    identity: str | None = None
    successor: str | None = None


@dataclass(frozen=True, slots=True)
class SavedStanding:
    """Who decides what the client holds. What it holds frozen is no part: the client says it again.

    Attributes:
        now: who decides.
        since: the epoch of the assignment that said so.
        floor: no grant up to this epoch counts.
        freeze: the freeze that it answers; None: nobody asks.
        is_loose: whether it has not answered yet, or follows.
    """

    now: Standing = Standing.OWN
    since: Epoch = EPOCH_ZERO
    floor: Epoch = EPOCH_ZERO
    freeze: Epoch | None = None
    is_loose: bool = False


@dataclass(frozen=True, slots=True)
class SavedSession:
    """A session that has begun an incarnation, and has a lease or waits for its first one.

    Attributes:
        incarnation: the incarnation.
        sequence: the sequence of its newest heartbeat.
        generation: the newest generation it knows; it starts nothing of an older one.
        claimed: whether its claims for that generation are in the log.
        applied: the epoch of the newest assignment it has applied.
        leaving: whether it leaves, and so starts nothing more.
        left: whether its leave is in the log.
        queues: what it has started.
        releases: what it must still write.
        standing: who decides what it holds.
    """

    incarnation: str
    sequence: int
    generation: int
    claimed: bool
    applied: Epoch | None
    leaving: bool
    left: bool
    queues: tuple[SavedQueue, ...]
    releases: tuple[SavedRelease, ...]
    standing: SavedStanding = SavedStanding()


def save(session: Session) -> SavedSession:
    """Return the session as values; it must have begun, and must not have lost its lease."""
    memory = session.memory
    assert memory.state not in (SessionState.NEW, SessionState.FENCED)
    return SavedSession(
        incarnation=memory.incarnation,
        sequence=memory.sequence,
        generation=memory.generation,
        claimed=memory.claims_due_ms is None,
        applied=memory.applied,
        leaving=memory.state in (SessionState.LEAVING, SessionState.CLOSED),
        left=memory.leave_appended,
        queues=tuple(
            SavedQueue(
                each.queue,
                each.started,
                each.works,
                each.position,
                each.identity,
                each.successor,
                each.drain_since_ms if each.state is QueueState.DRAINING else None,
            )
            for each in memory.queues.values()
            if each.started.generation > 0
        ),
        releases=tuple(
            SavedRelease(each.queue, each.epoch, each.position, each.identity, each.successor)
            for each in memory.pending.values()
        ),
        standing=SavedStanding(
            memory.standing,
            memory.standing_since,
            memory.floor,
            memory.freeze,
            memory.is_loose or memory.former is not None,
        ),
    )


def restore(settings: SessionSettings, saved: SavedSession, now_ms: int) -> Session:
    """Return a session that goes on; its lease counts from `now_ms` on.

    Nothing is due but what the log may lack: unwritten releases, claims, and its leave.

    Args:
        settings: the client's names and times.
        saved: the session.
        now_ms: the time, on the clock that the saved times are from.
    """
    session = Session(settings)
    memory = session.memory
    memory.now_ms = now_ms
    memory.incarnation = saved.incarnation
    memory.incarnations = 1
    memory.sequence = saved.sequence
    memory.generation = saved.generation
    memory.applied = saved.applied
    memory.state = SessionState.LEAVING if saved.leaving else SessionState.RUNNING
    memory.leave_appended = saved.left
    memory.leave_due_ms = now_ms if saved.leaving and not saved.left else None
    memory.claims_due_ms = None if saved.claimed else now_ms
    memory.lease_until_ms = now_ms + settings.lease_ms
    memory.asked_ms = memory.read_to_end_ms = now_ms
    standing = saved.standing
    memory.standing, memory.standing_since = standing.now, standing.since
    memory.floor, memory.freeze = standing.floor, standing.freeze
    memory.is_loose = standing.is_loose
    floor = memory.lowest
    for each in saved.queues:
        memory.queues[each.queue] = QueueMemory(
            each.queue,
            top=max(floor, each.started),
            started=each.started,
            state=_state_of(each),
            position=each.position,
            start=POSITION_ZERO if not each.works else each.position,
            granted=each.position,
            identity=each.identity,
            successor=each.successor,
            drain_since_ms=each.draining_since_ms or 0,
        )
    for release in saved.releases:
        memory.pending[release.queue, release.epoch] = PendingRelease(
            release.queue,
            release.epoch,
            release.position,
            due_ms=now_ms,
            identity=release.identity,
            successor=release.successor,
        )
        queue = memory.queue(release.queue)
        queue.top = max(queue.top, release.epoch)
    return session


def _state_of(saved: SavedQueue) -> QueueState:
    if not saved.works:
        return QueueState.IDLE
    return QueueState.WORKING if saved.draining_since_ms is None else QueueState.DRAINING
