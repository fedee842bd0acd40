"""Queue states, claims and the barrier of a group as plain JSON values.

Members and queues are rows of the group's tables; an epoch or a position is two numbers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.core.records import Claim
from fairlead.core.state import Barrier, ClaimSet, Grant, QueueState

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


def plain_queue(row: int, queue: QueueState, keys: Keys) -> list[Any]:
    """Return the state of the queue in this row of the queue table."""
    plain = [
        row,
        None if queue.base is None else [*queue.base],
        queue.why,
        queue.late,
        [*queue.void],
        [_plain_grant(grant, keys) for grant in queue.chain],
    ]
    if queue.overtaken or queue.asked is not None:
        plain.append([_plain_grant(grant, keys) for grant in queue.overtaken])
        plain.append(None if queue.asked is None else [*queue.asked])
    return plain


def _plain_grant(grant: Grant, keys: Keys) -> list[Any]:
    """Return a grant; one that was not dropped is four values, as nearly all are."""
    plain = [keys[grant.member], *grant.epoch, grant.dropped]
    return [*plain, grant.dropped_ms, grant.mute] if grant.dropped else plain


def read_queue(plain: Sequence[Any], keys: Sequence[MemberKey]) -> QueueState:
    """Return the queue state that :func:`plain_queue` wrote, in this version or an earlier one."""
    _, base, why, late, void, chain, *later = plain
    overtaken, asked = later or ((), None)
    return QueueState(
        None if base is None else Position(*base),
        why,
        tuple(_read_grant(grant, keys) for grant in chain),
        late,
        Epoch(*void),
        tuple(_read_grant(grant, keys) for grant in overtaken),
        None if asked is None else Position(*asked),
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
                    [queues[claim.queue], *claim.epoch, *claim.position, claim.running]
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
                Claim(queues[row], Epoch(epoch, number), Position(reset, offset), running)
                for row, epoch, number, reset, offset, running in claims
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
            [queues[queue], keys[member], *epoch, *position]
            for (queue, member), (epoch, position) in sorted(barrier.releases.items())
        ],
        barrier.recovering,
        barrier.waited,
    ]


def read_barrier(
    plain: Sequence[Any] | None, keys: Sequence[MemberKey], queues: Sequence[MessageQueue]
) -> Barrier | None:
    """Return the barrier that :func:`plain_barrier` wrote; before version 3 none recovered."""
    if plain is None:
        return None
    generation, started_ms, marked_ms, mute_told, releases, *recovery = plain
    return Barrier(
        generation,
        started_ms,
        marked_ms,
        {
            (queues[queue], keys[member]): (Epoch(epoch, number), Position(reset, offset))
            for queue, member, epoch, number, reset, offset in releases
        },
        mute_told,
        *recovery,
    )
