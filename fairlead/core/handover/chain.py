"""How one queue goes from one member to another: the list rule, as functions of one queue's state.

A queue keeps all of its unresolved grants in a chain, oldest first. A newer grant names all older
ones, and its member waits for their releases (rule H1). :data:`TRANSITIONS` lists what may happen
in which phase; anything else is a bug and raises. Nothing here knows of records, liveness or
targets. No shortcut is safe: each rule (H1 to H7 of docs/handover.md) has a test with a run that
breaks without it.

An overtaken grant is out of the chain: nobody waits for it, no other release or progress proves
anything about it, and only a report of its own member ends it (rule H26).

ADR 0081 gives the reasons.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from fairlead.core.model import Epoch, MemberKey, Position
from fairlead.core.state import RESET, Grant, QueueState

__all__ = [
    "TRANSITIONS",
    "Aimed",
    "Event",
    "IllegalTransitionError",
    "Phase",
    "Resolved",
    "aim",
    "answer_never",
    "based",
    "credit",
    "is_behind_doubt",
    "lapse",
    "overtake",
    "phase_of",
    "progress",
    "release",
    "reset",
]


class Phase(StrEnum):
    """What a queue waits for."""

    FREE = "free"
    """A target: nobody may be working on it."""
    OWNED = "owned"
    """Nothing: its only grant is wanted."""
    DRAINING = "draining"
    """The release of its only grant, which was dropped."""
    HANDOVER = "handover"
    """The releases of older grants; the newest is wanted and gated by them."""
    BLOCKED = "blocked"
    """The answer to any of several grants, all dropped."""


class Event(StrEnum):
    """What can happen to a queue."""

    AIMED = "aimed"
    RELEASED = "released"
    NEVER = "never"
    LAPSED = "lapsed"
    PROGRESSED = "progressed"
    OVERTAKEN = "overtaken"


class IllegalTransitionError(AssertionError):
    """A queue moved as the table does not list: a bug in this module, never a matter of input."""


_F, _O, _D, _H, _B = Phase.FREE, Phase.OWNED, Phase.DRAINING, Phase.HANDOVER, Phase.BLOCKED

TRANSITIONS: Mapping[tuple[Phase, Event], frozenset[Phase]] = {
    (_F, Event.AIMED): frozenset({_F, _O}),
    (_O, Event.AIMED): frozenset({_O, _D, _H}),
    (_O, Event.RELEASED): frozenset({_F}),
    (_O, Event.NEVER): frozenset({_F}),
    (_O, Event.LAPSED): frozenset({_F}),
    (_O, Event.PROGRESSED): frozenset({_O}),
    (_D, Event.AIMED): frozenset({_D, _H}),
    (_D, Event.RELEASED): frozenset({_F}),
    (_D, Event.NEVER): frozenset({_F}),
    (_D, Event.LAPSED): frozenset({_F}),
    (_D, Event.PROGRESSED): frozenset({_D}),
    (_D, Event.OVERTAKEN): frozenset({_F}),
    (_H, Event.AIMED): frozenset({_H, _B}),
    (_H, Event.RELEASED): frozenset({_F, _O, _H}),
    (_H, Event.NEVER): frozenset({_O, _D, _H, _B}),
    (_H, Event.LAPSED): frozenset({_F, _O, _D, _H, _B}),
    (_H, Event.PROGRESSED): frozenset({_H, _O}),
    (_H, Event.OVERTAKEN): frozenset({_H, _O}),
    (_B, Event.AIMED): frozenset({_B, _H}),
    (_B, Event.RELEASED): frozenset({_F, _D, _B}),
    (_B, Event.NEVER): frozenset({_D, _B}),
    (_B, Event.LAPSED): frozenset({_F, _D, _B}),
    (_B, Event.PROGRESSED): frozenset({_B, _D}),
    (_B, Event.OVERTAKEN): frozenset({_F, _D, _B}),
}
"""(phase, event) -> the phases that may follow."""


class Resolved(NamedTuple):
    """A queue after some of its grants were resolved.

    ``grants`` are those resolved. ``granted`` is the newest grant if it is wanted and its list of
    gates became shorter: its member must learn that, whether it has started or not.
    """

    queue: QueueState
    grants: tuple[Grant, ...]
    granted: Grant | None


class Aimed(NamedTuple):
    """A queue after it was aimed at a target: the grant to drop, the grant to add."""

    queue: QueueState
    drop: Grant | None
    add: Grant | None


def phase_of(queue: QueueState) -> Phase:
    """Return what the queue waits for."""
    if not queue.chain:
        return Phase.FREE
    dropped = queue.chain[-1].dropped
    if len(queue.chain) == 1:
        return Phase.DRAINING if dropped else Phase.OWNED
    return Phase.BLOCKED if dropped else Phase.HANDOVER


def credit(queue: QueueState, epoch: Epoch, position: Position, why: str) -> QueueState:
    """Raise the queue's base to a position that a member reached under ``epoch``.

    No report exceeds what was really processed, so the greatest is right and never skips (rule
    H7). Positions of a former identity of the topic mean nothing.
    """
    if epoch <= queue.void or (queue.base is not None and position <= queue.base):
        return queue
    return replace(queue, base=position, why=why)


def based(queue: QueueState, position: Position, why: str) -> QueueState:
    """Give a queue its first base; a pending reset goes first if it is newer."""
    if queue.asked is not None and queue.asked > position:
        position, why = queue.asked, RESET
    return replace(queue, base=position, why=why, asked=None, grown=False)


def reset(queue: QueueState, position: Position, *, sure: bool = True) -> QueueState | None:
    """Move the queue's start as an operator says; None: that is done already (rule H25).

    A member that has followed this reset, or a newer one, has brought the base to it or beyond, and
    the engine may read the record again at any time. While it knows nothing of the queue, or not
    all (``sure``), it keeps the reset beside what it will find out.
    """
    if any(known is not None and position <= known for known in (queue.base, queue.asked)):
        return None
    if queue.base is None or not sure:
        return replace(queue, asked=position)
    return replace(queue, base=position, why=RESET)


def release(
    queue: QueueState, member: MemberKey, epoch: Epoch, position: Position
) -> Resolved | None:
    """Resolve this grant and all older ones: its member stopped at ``position`` (rule H2).

    A release proves that the older grants' members had stopped, else this one could not have
    started. None: there is no such grant, by member *and* epoch (rule H3).
    """
    index = _index(queue, member, epoch)
    credited = credit(queue, epoch, position, "release")
    if index is None:
        return _end_overtaken(queue, member, epoch, credited)
    return _resolved(queue, credited, credited.chain[index + 1 :], Event.RELEASED)


def answer_never(queue: QueueState, member: MemberKey, epoch: Epoch) -> Resolved | None:
    """Resolve only this grant: its member never started it and never will (rule H2).

    None: there is no such grant.
    """
    index = _index(queue, member, epoch)
    if index is None:
        return _end_overtaken(queue, member, epoch, queue)
    chain = queue.chain[:index] + queue.chain[index + 1 :]
    return _resolved(queue, queue, chain, Event.NEVER)


def lapse(queue: QueueState, member: MemberKey) -> Resolved | None:
    """Resolve only this member's own grants: it has stopped without a word (rule H2).

    None: it has none here.
    """
    chain = tuple(grant for grant in queue.chain if grant.member != member)
    ended = tuple(grant for grant in queue.overtaken if grant.member == member)
    left = queue
    if ended:
        others = tuple(grant for grant in queue.overtaken if grant.member != member)
        left = replace(queue, overtaken=others)
    if len(chain) == len(queue.chain):
        return Resolved(left, ended, None) if ended else None
    lapsed = _resolved(queue, left, chain, Event.LAPSED)
    return lapsed._replace(grants=(*ended, *lapsed.grants))


def progress(
    queue: QueueState, member: MemberKey, epoch: Epoch, position: Position
) -> Resolved | None:
    """Resolve the older grants: a member works on this one and has come to ``position``.

    None: there is no such grant.
    """
    index = _index(queue, member, epoch)
    credited = credit(queue, epoch, position, "progress")
    if index is None:
        ended = _end_overtaken(queue, member, epoch, credited)
        return None if ended is None else Resolved(credited, (), None)
    resolved = _resolved(queue, credited, credited.chain[index:], Event.PROGRESSED)
    return resolved._replace(granted=None)


def overtake(queue: QueueState, chosen: Callable[[Grant], bool]) -> Resolved | None:
    """Take dropped grants out of the chain although they are unresolved (rule H26).

    The next owners do not wait for them, so there may be two. None: no dropped one is ``chosen``.
    """
    out = tuple(grant for grant in queue.chain if grant.dropped and chosen(grant))
    if not out:
        return None
    chain = tuple(grant for grant in queue.chain if grant not in out)
    left = replace(queue, overtaken=(*queue.overtaken, *out))
    return _resolved(queue, left, chain, Event.OVERTAKEN)


def aim(
    queue: QueueState,
    target: MemberKey | None,
    epoch: Epoch,
    cap: int,
    clock_ms: int | None = None,
) -> Aimed:
    """Aim the queue at a member (None: at nobody) in the decision ``epoch``.

    The newest grant is dropped unless it is the target's. The target gets a grant if the chain has
    room below ``cap`` and the start position is known; all older grants become its gates.
    ``clock_ms`` dates a drop; None: no date.
    """
    chain = queue.chain
    drop = None
    if chain and not chain[-1].dropped:
        if chain[-1].member == target:
            return Aimed(queue, None, None)
        drop = chain[-1]
        chain = (*chain[:-1], replace(drop, dropped=True, dropped_ms=clock_ms))
    add = None
    # A release under a former identity says nothing of this one: no gate may wait for it.
    waits = any(grant.epoch <= queue.void for grant in chain)
    # Nobody starts below a report that is not judged yet: messages would be read again.
    waits |= bool(queue.doubts) and not queue.chain
    if target is not None and len(chain) < cap and not waits and queue.base is not None:
        add = Grant(target, epoch)
        chain = (*chain, add)
    aimed = replace(queue, chain=chain)
    _check(queue, Event.AIMED, aimed)
    return Aimed(aimed, drop, add)


def is_behind_doubt(queue: QueueState, target: MemberKey, since_ms: int) -> bool:
    """Tell whether the target would wait for a doubtful release that it has not read.

    A client opens a gate when it reads the release; a lapse would open it below that position. A
    client that has just begun has read only what was appended from ``since_ms`` on. The release
    after a drop counts for the successor that the drop named, and for nobody else.
    """
    if not queue.doubts or not queue.chain or queue.chain[-1].member == target:
        return False
    put_aside = {
        (each.member, each.epoch): each.source is None or each.source.append_ms < since_ms
        for each in queue.doubts
        if each.kind == "release"
    }
    return any(
        grant.dropped or put_aside[grant.member, grant.epoch]
        for grant in queue.chain
        if (grant.member, grant.epoch) in put_aside
    )


def _index(queue: QueueState, member: MemberKey, epoch: Epoch) -> int | None:
    for index, grant in enumerate(queue.chain):
        if grant.member == member and grant.epoch == epoch:
            return index
    return None


def _end_overtaken(
    queue: QueueState, member: MemberKey, epoch: Epoch, credited: QueueState
) -> Resolved | None:
    """End an overtaken grant, with the positions of ``credited``; None: there is no such grant."""
    out = queue.overtaken
    ended = tuple(grant for grant in out if (grant.member, grant.epoch) == (member, epoch))
    if not ended:
        return None
    left = tuple(grant for grant in out if grant not in ended)
    return Resolved(replace(credited, overtaken=left), ended, None)


def _resolved(
    before: QueueState, credited: QueueState, chain: tuple[Grant, ...], event: Event
) -> Resolved:
    after = replace(credited, chain=chain)
    _check(before, event, after)
    gone = tuple(grant for grant in before.chain if grant not in chain)
    wanted = chain[-1] if chain and not chain[-1].dropped else None
    shorter = wanted is not None and any(grant.epoch < wanted.epoch for grant in gone)
    return Resolved(after, gone, wanted if shorter else None)


def _check(before: QueueState, event: Event, after: QueueState) -> None:
    start, end = phase_of(before), phase_of(after)
    if end not in TRANSITIONS.get((start, event), frozenset()):
        message = f"a queue went from {start} to {end} on {event}, which the table does not list"
        raise IllegalTransitionError(message)
