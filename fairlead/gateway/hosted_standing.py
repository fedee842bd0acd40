"""What a hosted session does for a client that stands by.

The client alone knows what it holds without a grant, and says so with each poll. So the session
knows as much as the newest poll: it keeps nothing of it in the `state`, but for what it has asked.
"""

from collections.abc import Sequence
from dataclasses import replace

from fairlead_client.model import Epoch
from fairlead_client.session import actions as act
from fairlead_client.session import events as on
from fairlead_client.session.memory import UNGRANTED, Memory
from fairlead_client.session.session import Session
from fairlead_client.session.states import SessionState, Standing

from fairlead.gateway.poll_words import Poll, UnfitStandbyError

__all__ = ["begin_standing", "check_standing", "heard", "say_standing", "settle", "with_standing"]

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
    if poll.frozen is not None:
        done = session.handle(on.Froze(poll.frozen.epoch, poll.frozen.queues), now_ms)
    if poll.leaving:
        memory.is_loose = poll.standing in _UNGRANTED
    return done


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


def heard(memory: Memory) -> tuple[Standing, Epoch | None]:
    """Return what a client has to hear of who decides."""
    return memory.standing, memory.freeze


def with_standing(actions: Sequence[act.Action], standing: Standing | None) -> list[act.Action]:
    """Return the actions, with heartbeats that say where the client is."""
    return [
        replace(action, standing=standing) if isinstance(action, act.SendHeartbeat) else action
        for action in actions
    ]
