"""Steps between standing by and owning: who decides what the client holds (ADR 0250).

`STANDINGS` is the part of the transition table for them: what the newest assignment says, in the
state in which the client is. An application that stands by follows its data plane's own strategy;
`freeze` asks it for exactly what it holds; the next grants let it go on with that in place.
"""

from collections.abc import Callable
from typing import Final

from fairlead_client.model import EPOCH_ZERO
from fairlead_client.session.actions import Follow, Freeze, SendFormer, StopFollowing
from fairlead_client.session.events import FormerAppended, FormerFailed, Froze, Unfollowed
from fairlead_client.session.memory import Memory
from fairlead_client.session.records import Assignment
from fairlead_client.session.states import SessionState, Signal, Standing

__all__ = [
    "STANDINGS",
    "begin_standing",
    "former_appended",
    "former_failed",
    "froze",
    "hear_standing",
    "send_former",
    "tell_application",
    "unfollowed",
]


def begin_standing(memory: Memory) -> None:
    """Begin an incarnation: one that stands by holds nothing until its first assignment."""
    assert not memory.is_loose, "all that an incarnation held stops before the next one"
    memory.standing = Standing.WAIT if memory.settings.stands_by else Standing.OWN
    memory.standing_since = memory.floor = EPOCH_ZERO
    _forget_freeze(memory)


def _forget_freeze(memory: Memory) -> None:
    memory.freeze = memory.former = memory.former_due_ms = None


def hear_standing(memory: Memory, record: Assignment) -> bool:
    """Take in who decides now; tell whether the assignment's lists count.

    Those of an assignment that is older than the present standing do not: the engine has given its
    grants up since.
    """
    if not memory.settings.stands_by:
        return True
    if record.epoch < memory.standing_since:
        memory.counts["records_of_former_standing"] += 1
        return False
    handler, leads_to = STANDINGS[memory.standing, record.standing]
    standing = handler(memory, record)
    assert standing is leads_to
    memory.standing = standing
    return True


def stay(memory: Memory, _record: Assignment) -> Standing:
    """Do nothing: nothing has changed."""
    return memory.standing


def follow(memory: Memory, record: Assignment) -> Standing:
    """Let the application follow; it keeps what it holds, and no epoch names that any more."""
    _give_up(memory, record)
    if memory.state is SessionState.RUNNING:
        memory.is_loose = True
        memory.actions.append(Follow())
    return Standing.FOLLOW


def freeze(memory: Memory, record: Assignment) -> Standing:
    """Ask the application for all that it holds; it takes nothing from now on."""
    if record.epoch == memory.freeze:
        return Standing.FREEZE
    _give_up(memory, record)
    memory.freeze = record.epoch
    if memory.state is SessionState.RUNNING:
        memory.is_loose = True
        memory.actions.append(Freeze(record.epoch))
    return Standing.FREEZE


def _give_up(memory: Memory, record: Assignment) -> None:
    _forget_freeze(memory)
    memory.standing_since = memory.floor = record.epoch
    if memory.state is SessionState.LEAVING:
        # Nobody will drop what it still hands over.
        memory.stop_working_on()
    else:
        for queue in memory.queues.values():
            memory.signal(queue, Signal.GIVE_UP)
    memory.changed()


def own(memory: Memory, record: Assignment) -> Standing:
    """Take grants from now on; what is held frozen and gets none must stop.

    Who follows although the engine owns the group has lost an assignment, or the engine its state:
    then nobody knows what the application holds, so all of it stops.
    """
    _forget_freeze(memory)
    memory.standing_since = record.epoch
    if memory.is_loose and memory.state is not SessionState.LEAVING:
        memory.actions.append(StopFollowing())
    memory.changed()
    return Standing.OWN


def tell_application(memory: Memory) -> None:
    """Tell the application, which may work now, what an assignment said before the first lease."""
    if memory.standing not in (Standing.FOLLOW, Standing.FREEZE):
        return
    memory.is_loose = True
    memory.actions.append(Follow() if memory.freeze is None else Freeze(memory.freeze))


def froze(memory: Memory, event: Froze) -> SessionState:
    """Write what the application holds; a repeated answer only says where the work is now."""
    if memory.standing is not Standing.FREEZE or event.epoch != memory.freeze:
        return memory.state
    is_first = memory.is_loose
    memory.is_loose = False
    named = dict(event.queues)
    for queue in memory.queues.values():
        if queue.queue not in named:
            memory.signal(queue, Signal.GIVE_UP)
    for name, offset in event.queues:
        memory.signal(memory.queue(name), Signal.FROZEN, (event.epoch, offset))
    if is_first:
        memory.former = SendFormer(memory.incarnation, event.epoch, event.queues)
        send_former(memory)
    return memory.state


def send_former(memory: Memory) -> None:
    """Write the answer to the freeze, for the first time or again."""
    if memory.former is not None:
        memory.former_due_ms = None
        memory.actions.append(memory.former)


def former_appended(memory: Memory, event: FormerAppended) -> SessionState:
    """Note that the answer is in the log."""
    if (event.incarnation, event.epoch) == (memory.incarnation, memory.freeze):
        memory.former = memory.former_due_ms = None
    return memory.state


def former_failed(memory: Memory, event: FormerFailed) -> SessionState:
    """Write the answer again soon."""
    mine = (event.incarnation, event.epoch) == (memory.incarnation, memory.freeze)
    if mine and memory.former is not None:
        memory.former_due_ms = memory.now_ms + memory.settings.retry_ms
    return memory.state


def unfollowed(memory: Memory, _event: Unfollowed) -> SessionState:
    """Note that nothing runs without an epoch, if that was asked for; gates may open."""
    asked = memory.standing is Standing.OWN or memory.state is not SessionState.RUNNING
    if memory.is_loose and asked:
        memory.is_loose = False
        memory.changed()
        for queue in memory.queues.values():
            memory.signal(queue, Signal.SCAN)
    return memory.state


_Handler = Callable[[Memory, Assignment], Standing]

STANDINGS: Final[dict[tuple[Standing, Standing], tuple[_Handler, Standing]]] = {
    (Standing.WAIT, Standing.FOLLOW): (follow, Standing.FOLLOW),
    (Standing.WAIT, Standing.FREEZE): (freeze, Standing.FREEZE),
    (Standing.WAIT, Standing.OWN): (own, Standing.OWN),
    (Standing.FOLLOW, Standing.FOLLOW): (stay, Standing.FOLLOW),
    (Standing.FOLLOW, Standing.FREEZE): (freeze, Standing.FREEZE),
    (Standing.FOLLOW, Standing.OWN): (own, Standing.OWN),
    (Standing.FREEZE, Standing.FOLLOW): (follow, Standing.FOLLOW),
    (Standing.FREEZE, Standing.FREEZE): (freeze, Standing.FREEZE),
    (Standing.FREEZE, Standing.OWN): (own, Standing.OWN),
    (Standing.OWN, Standing.FOLLOW): (follow, Standing.FOLLOW),
    (Standing.OWN, Standing.FREEZE): (freeze, Standing.FREEZE),
    (Standing.OWN, Standing.OWN): (stay, Standing.OWN),
}
"""(who decides, who decides from now on) -> the handler, and where it leads. Each incarnation of
one that stands by begins in `wait`; the end of its lease leads there from everywhere."""
