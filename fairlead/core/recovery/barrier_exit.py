"""What becomes of one queue when a barrier ends: its owner, its start, what is void.

Claims are the truth: the highest running claim is the chain, every other grant is void, and the
base is the greatest position that anybody reported in the present life of the topic. Functions of
one queue; whose claims there are is decided by :mod:`fairlead.core.recovery.barrier`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fairlead.core.handover.chain import credit
from fairlead.core.model import NOTHING, Epoch, MemberKey, Position
from fairlead.core.records import Claim
from fairlead.core.state import RESET, Grant, QueueState

__all__ = ["Claimed", "Facts", "adopt_queue", "is_from_before_its_reset", "with_its_reset"]

Claimed = Sequence[tuple[MemberKey, Claim]]
"""Who claims a queue, and what."""

Facts = Mapping[MemberKey, tuple[Epoch, Position | None]]
"""The newest release of each member that was read during the barrier."""


def adopt_queue(
    value: QueueState, claims: Claimed, facts: Facts, life: str | None, *, lost: bool
) -> QueueState:
    """Return a queue as its members claim it.

    ``life`` is the identity of its topic's present life as far as known, ``lost`` whether nothing
    is known from before. Positions that say of which life they are count already.
    """
    running: tuple[Epoch, MemberKey] | None = None
    for epoch, position in facts.values():
        if position is not None:
            value = credit(value, epoch, position, "release")
    for key, claim in claims:
        if claim.identity is None:
            value = credit(value, claim.epoch, claim.position, "progress")
        released = facts.get(key)
        if not claim.running or (released is not None and released[0] >= claim.epoch):
            continue
        if running is None or claim.epoch > running[0]:
            running = (claim.epoch, key)
    if lost and value.base is not None:
        # That older reports do not count was to be remembered until here.
        value = replace(value, void=NOTHING)
    out = _still_running(value, claims, facts, running)
    if running is None:
        return replace(value, chain=(), overtaken=out)
    # Not dropped, even if it was before: whoever learnt the generation before it read that drop
    # obeys it no more. If the queue is wanted elsewhere it is dropped again.
    chain = (Grant(running[1], running[0]),)
    return _void_by_life(replace(value, chain=chain, overtaken=out), claims, life)


def _void_by_life(adopted: QueueState, claims: Claimed, life: str | None) -> QueueState:
    """Say whether what runs is of the present life, if its claim tells: it is void, or it is not.

    A former state may have known neither the life nor the grant, and then takes both for void.
    """
    runs = adopted.chain[0]
    told = [
        claim.identity for key, claim in claims if (key, claim.epoch) == (runs.member, runs.epoch)
    ]
    identity = told[0] if told else None
    if identity is None or life is None:
        return adopted
    if identity != life:
        return replace(adopted, void=max(adopted.void, runs.epoch))
    return replace(
        adopted, void=min(adopted.void, Epoch(runs.epoch.generation, runs.epoch.number - 1))
    )


def _still_running(
    value: QueueState,
    claims: Claimed,
    facts: Facts,
    newest: tuple[Epoch, MemberKey] | None,
) -> tuple[Grant, ...]:
    """Return the grants that nobody waits for and that their members claim to work on still."""
    running = {
        (claim.epoch, key)
        for key, claim in claims
        if claim.running and (key not in facts or facts[key][0] < claim.epoch)
    }
    return tuple(
        grant
        for grant in value.overtaken
        if (grant.epoch, grant.member) in running and (grant.epoch, grant.member) != newest
    )


def with_its_reset(adopted: QueueState) -> QueueState:
    """Find out what is to be done with a reset of which it was not known whether it was followed.

    Whoever runs tells it. If nobody does, and nobody tells of having followed it, what the group
    committed in the data plane does: until that is known the queue waits.
    """
    asked = adopted.asked
    if asked is None:
        return adopted
    if adopted.base is not None and asked <= adopted.base:
        return replace(adopted, asked=None)
    if adopted.chain:
        return replace(adopted, base=asked, why=RESET, asked=None)
    return replace(adopted, base=None)


def is_from_before_its_reset(adopted: QueueState, claims: Claimed) -> bool:
    """Whether what runs follows an older reset than the queue's: one came during the barrier."""
    if not adopted.chain or adopted.base is None:
        return False
    runs = (adopted.chain[0].member, adopted.chain[0].epoch)
    resets = [claim.position.reset for key, claim in claims if (key, claim.epoch) == runs]
    return max(resets) < adopted.base.reset
