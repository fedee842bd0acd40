"""Queue states, claims and the barrier of a group as plain JSON values.

Members and queues are rows of the group's tables; an epoch or a position is two numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Source
from fairlead.core.records import Claim
from fairlead.core.state import Barrier, ClaimSet, Doubt, Grant, QueueState, Told

__all__ = [
    "plain_barrier",
    "plain_claims",
    "plain_queue",
    "read_barrier",
    "read_claims",
    "read_queue",
]

_NO_RECOVERY: tuple[Any, ...] = (False, False, ())
"""What follows the releases of a barrier: whether it recovers, whether it waited, what was told."""

Keys = Mapping[MemberKey, int]
Queues = Mapping[MessageQueue, int]


_NOTHING_LATER: tuple[Any, ...] = ((), None, None, None, False, None, ())
"""What stands at the end of a queue's row only where there is something of it."""


def plain_queue(row: int, queue: QueueState, keys: Keys) -> list[Any]:
    """Return the state of the queue in this row of the queue table."""
    plain: list[Any] = [
        row,
        None if queue.base is None else [*queue.base],
        queue.why,
        queue.late,
        [*queue.void],
        [_plain_grant(grant, keys) for grant in queue.chain],
    ]
    bounds = queue.end is not None or bool(queue.doubts)
    apart = bounds or queue.identity is not None or queue.set_aside is not None or queue.grown
    if queue.overtaken or queue.asked is not None or apart:
        plain.append([_plain_grant(grant, keys) for grant in queue.overtaken])
        plain.append(None if queue.asked is None else [*queue.asked])
    if apart:
        aside = queue.set_aside
        plain.append(queue.identity)
        plain.append(None if aside is None else [aside[0], *aside[1]])
    if queue.grown or bounds:
        plain.append(queue.grown)
    if bounds:
        plain.append(queue.end)
    if queue.doubts:
        plain.append([_plain_doubt(doubt, keys) for doubt in queue.doubts])
    return plain


def _plain_doubt(doubt: Doubt, keys: Keys) -> list[Any]:
    member, epoch, position, kind, source, contradicted_ms = doubt
    return [keys[member], *epoch, *position, kind, contradicted_ms, *(source or ())]


def _read_doubt(plain: Sequence[Any], keys: Sequence[MemberKey]) -> Doubt:
    # Once it was only said whether a bridge had contradicted, not when.
    row, generation, number, reset, offset, kind, contradicted_ms, *source = plain
    epoch, position = Epoch(generation, number), Position(reset, offset)
    told_by = Source(*source) if source else None
    return Doubt(keys[row], epoch, position, kind, told_by, int(contradicted_ms))


def _plain_grant(grant: Grant, keys: Keys) -> list[Any]:
    """Return a grant; one that was not dropped is four values, as nearly all are."""
    plain = [keys[grant.member], *grant.epoch, grant.dropped]
    return [*plain, grant.dropped_ms, grant.mute] if grant.dropped else plain


def read_queue(plain: Sequence[Any], keys: Sequence[MemberKey]) -> QueueState:
    """Return the queue state that :func:`plain_queue` wrote, in this version or an earlier one."""
    _, base, why, late, void, chain, *later = plain
    overtaken, asked, identity, aside, grown, end, doubts = (*later, *_NOTHING_LATER[len(later) :])
    return QueueState(
        None if base is None else Position(*base),
        why,
        tuple(_read_grant(grant, keys) for grant in chain),
        late,
        Epoch(*void),
        tuple(_read_grant(grant, keys) for grant in overtaken),
        None if asked is None else Position(*asked),
        identity,
        None if aside is None else (aside[0], Position(*aside[1:])),
        grown,
        end,
        tuple(_read_doubt(doubt, keys) for doubt in doubts),
    )


def _read_grant(plain: Sequence[Any], keys: Sequence[MemberKey]) -> Grant:
    row, generation, number, dropped, *later = plain
    return Grant(keys[row], Epoch(generation, number), dropped, *later)


def plain_claims(row: int, claims: ClaimSet, queues: Queues) -> list[Any]:
    """Return the acknowledgement of the member in this row of the key table."""
    return [
        row,
        claims.generation,
        claims.parts,
        [
            [
                part,
                [
                    [
                        queues[claim.queue],
                        *claim.epoch,
                        *claim.position,
                        claim.running,
                        *_plain_identity(claim.identity),
                    ]
                    for claim in claims.read[part]
                ],
            ]
            for part in sorted(claims.read)
        ],
    ]


def _plain_identity(identity: str | None) -> list[str]:
    return [] if identity is None else [identity]


def read_claims(plain: Sequence[Any], queues: Sequence[MessageQueue]) -> ClaimSet:
    """Return the acknowledgement that :func:`plain_claims` wrote."""
    _, generation, parts, read = plain
    return ClaimSet(
        generation,
        parts,
        {
            part: tuple(
                Claim(
                    queues[row], Epoch(epoch, number), Position(reset, offset), running, *identity
                )
                for row, epoch, number, reset, offset, running, *identity in claims
            )
            for part, claims in read
        },
    )


def plain_barrier(barrier: Barrier | None, keys: Keys, queues: Queues) -> list[Any] | None:
    """Return the barrier, None if there is none."""
    if barrier is None:
        return None
    return [
        barrier.generation,
        barrier.started_ms,
        barrier.marked_ms,
        barrier.mute_told,
        [
            [queues[queue], keys[member], *epoch, *(position or ())]
            for (queue, member), (epoch, position) in sorted(barrier.releases.items())
        ],
        barrier.recovering,
        barrier.waited,
        [
            [queues[queue], identity, *told.epoch, *told.position, told.why]
            for (queue, identity), told in sorted(barrier.told.items())
        ],
    ]


def read_barrier(
    plain: Sequence[Any] | None, keys: Sequence[MemberKey], queues: Sequence[MessageQueue]
) -> Barrier | None:
    """Return the barrier that :func:`plain_barrier` wrote.

    Before version 3 none recovered, before version 4 nobody told of which life a position is.
    """
    if plain is None:
        return None
    generation, started_ms, marked_ms, mute_told, releases, *recovery = plain
    recovering, waited, told = (*recovery, *_NO_RECOVERY[len(recovery) :])
    return Barrier(
        generation,
        started_ms,
        marked_ms,
        {
            (queues[queue], keys[member]): (
                Epoch(epoch, number),
                Position(*position) if position else None,
            )
            for queue, member, epoch, number, *position in releases
        },
        mute_told,
        recovering,
        waited,
        {
            (queues[queue], identity): Told(Epoch(epoch, number), Position(reset, offset), why)
            for queue, identity, epoch, number, reset, offset, why in told
        },
    )
