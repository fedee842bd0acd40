"""Queue states, claims and the barrier of a group as plain JSON values.

Members and queues are rows of the group's tables; an epoch or a position is two numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Source
from fairlead.core.records import Claim
from fairlead.core.state import Barrier, ClaimSet, Doubt, Grant, QueueState, ReportedPosition

__all__ = [
    "plain_barrier",
    "plain_claims",
    "plain_queue",
    "read_barrier",
    "read_claims",
    "read_queue",
]

Keys = Mapping[MemberKey, int]
Queues = Mapping[MessageQueue, int]

_SELDOM: tuple[Any, ...] = ((), None, None, None, False, None, ())
"""The last fields of a queue's row, which end it early while they say nothing."""


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
    aside, end = queue.set_aside, queue.end
    seldom = (queue.overtaken, queue.asked, queue.identity, aside, queue.grown, end, queue.doubts)
    if seldom != _SELDOM:
        plain += (
            [_plain_grant(grant, keys) for grant in queue.overtaken],
            None if queue.asked is None else [*queue.asked],
            queue.identity,
            None if aside is None else [aside[0], *aside[1]],
            queue.grown,
            end,
            [_plain_doubt(doubt, keys) for doubt in queue.doubts],
        )
    return plain


def _plain_doubt(doubt: Doubt, keys: Keys) -> list[Any]:
    member, epoch, position, kind, source, contradicted_ms = doubt
    return [keys[member], *epoch, *position, kind, contradicted_ms, *(source or ())]


def _read_doubt(plain: Sequence[Any], keys: Sequence[MemberKey]) -> Doubt:
    row, generation, number, reset, offset, kind, contradicted_ms, *source = plain
    epoch, position = Epoch(generation, number), Position(reset, offset)
    told_by = Source(*source) if source else None
    return Doubt(keys[row], epoch, position, kind, told_by, contradicted_ms)


def _plain_grant(grant: Grant, keys: Keys) -> list[Any]:
    """Return a grant; one that was not dropped is four values, as nearly all are."""
    plain = [keys[grant.member], *grant.epoch, grant.dropped]
    return [*plain, grant.dropped_ms, grant.mute] if grant.dropped else plain


def read_queue(plain: Sequence[Any], keys: Sequence[MemberKey]) -> QueueState:
    """Return the queue state that :func:`plain_queue` wrote."""
    _, base, why, late, void, chain, *seldom = plain
    overtaken, asked, identity, aside, grown, end, doubts = seldom or _SELDOM
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
                        *(() if claim.identity is None else (claim.identity,)),
                    ]
                    for claim in claims.read[part]
                ],
            ]
            for part in sorted(claims.read)
        ],
    ]


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
            for (queue, identity), told in sorted(barrier.reported.items())
        ],
    ]


def read_barrier(
    plain: Sequence[Any] | None, keys: Sequence[MemberKey], queues: Sequence[MessageQueue]
) -> Barrier | None:
    """Return the barrier that :func:`plain_barrier` wrote."""
    if plain is None:
        return None
    generation, started_ms, marked_ms, mute_told, releases, recovering, waited, told = plain
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
            (queues[queue], identity): ReportedPosition(
                Epoch(epoch, number), Position(reset, offset), why
            )
            for queue, identity, epoch, number, reset, offset, why in told
        },
    )
