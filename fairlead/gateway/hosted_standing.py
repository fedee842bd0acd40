"""What a hosted session does for a client that stands by.

The client alone knows what it holds without a grant, and says so with each poll. So the session
knows as much as the newest poll: it keeps nothing of it in the `state`, but for what it has asked.
"""

from collections.abc import Sequence
from dataclasses import replace

from fairlead_client.model import Epoch, Queue
from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.session.memory import UNGRANTED, Memory
from fairlead_client.session.session import Session
from fairlead_client.session.states import QueueState, SessionState, Standing
from fairlead_client.thin.thin_words import Frozen

from fairlead.gateway.poll_words import Poll, UnfitStandbyError

__all__ = [
    "begin_standing",
    "check_standing",
    "dropped_in_place",
    "heard",
    "say_standing",
    "settle",
    "with_standing",
]

_UNGRANTED = (Standing.FOLLOW, Standing.FREEZE)


def check_standing(memory: Memory, poll: Poll) -> None:
    """Check what a poll says of standing by.

    Raises:
        UnfitStandbyError: it does not fit what the client heard last, or the join.
    """
    stands_by, frozen = memory.settings.stands_by, poll.frozen
    if poll.standing is not None and not stands_by:
        raise UnfitStandbyError(
            "standby", "this session joined without standby", "Leave it out, or join with standby."
        )
    if poll.standing is None and stands_by and not poll.ending:
        remedy = "Say where the client is: wait, follow, freeze or own."
        raise UnfitStandbyError("standby", "each poll of this session needs it", remedy)
    if frozen is not None and frozen.epoch != memory.freeze:
        asked = "no freeze is" if memory.freeze is None else f"{list(memory.freeze)} is"
        raise UnfitStandbyError(
            "frozen.epoch",
            f"{list(frozen.epoch)} was not asked for; by the state of this poll {asked}",
            "Answer the freeze of the newest answer, and none that is over.",
        )


def say_standing(memory: Memory, poll: Poll) -> Standing | None:
    """Return where the client is; it is at `own` at the earliest when it has heard so."""
    if memory.standing is Standing.OWN and poll.standing in _UNGRANTED:
        return poll.standing
    return memory.standing if memory.settings.stands_by else None


def begin_standing(session: Session, poll: Poll, now_ms: int) -> list[act.Action]:
    """Apply what a poll says that the client holds without a grant.

    While it holds any, and leaves, its leave waits: it says itself when nothing runs any more.
    """
    memory = session.memory
    if poll.ending:
        memory.is_loose = False
        return _stop_ungranted(session, now_ms)
    done: list[act.Action] = []
    if memory.state is SessionState.LEAVING:
        _note_yielding(memory, poll.frozen)
    elif poll.frozen is not None:
        done = session.handle(on.Froze(poll.frozen.epoch, poll.frozen.queues), now_ms)
    if poll.leaving:
        memory.is_loose = poll.standing in _UNGRANTED
    return done


def _note_yielding(memory: Memory, frozen: Frozen | None) -> None:
    """Note what a client that leaves still stops: a grant of it waits for that."""
    for queue in memory.queues.values():
        if queue.state is QueueState.YIELDING:
            queue.state, queue.frozen, queue.frozen_at = QueueState.IDLE, None, None
    for name, offset in frozen.queues if frozen is not None else ():
        queue = memory.queue(name)
        if queue.state is QueueState.IDLE:
            queue.state, queue.frozen_at = QueueState.YIELDING, offset
            queue.frozen, queue.drain_since_ms = memory.freeze, memory.now_ms


def _stop_ungranted(session: Session, now_ms: int) -> list[act.Action]:
    queues = session.memory.queues.values()
    stops = [
        on.WorkStopped(queue.queue, queue.name, None)
        for queue in queues
        if queue.state in UNGRANTED
    ]
    return session.handle_all(stops, now_ms)


def settle(session: Session, now_ms: int) -> list[act.Action]:
    """Let grants begin: the client itself keeps back what still has to stop on its side."""
    memory = session.memory
    if memory.standing is not Standing.OWN or memory.state is not SessionState.RUNNING:
        return []
    done = session.handle(on.Unfollowed(), now_ms) if memory.is_loose else []
    return done + _stop_ungranted(session, now_ms)


def dropped_in_place(memory: Memory) -> set[Queue]:
    """Return the queues that a leaving client still stops, and that have just been granted.

    The client learns the epoch with the stop, and says by it when that is done.
    """
    dropped = set()
    for queue in memory.queues.values():
        if queue.state is QueueState.DRAINING and queue.frozen is not None:
            queue.frozen = None
            dropped.add(queue.queue)
    return dropped


def heard(memory: Memory) -> tuple[Standing, Epoch | None]:
    """Return what a client has to hear of who decides."""
    return memory.standing, memory.freeze


def with_standing(actions: Sequence[act.Action], standing: Standing | None) -> list[act.Action]:
    """Return the actions, with heartbeats that say where the client is."""
    return [
        replace(action, standing=standing) if isinstance(action, act.SendHeartbeat) else action
        for action in actions
    ]
