"""What becomes of one queue when a barrier ends: its owner, its start, what is void.

Claims are the truth: the highest running claim is the chain, every other grant is void, and the
base is the greatest position that anybody reported under the present identity of the topic (rules
H15 and H19). These are functions of one queue; :mod:`fairlead.core.recovery.barrier` gathers the
claims.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fairlead.core.handover.chain import credit
from fairlead.core.model import NOTHING, Epoch, MemberKey, Position
from fairlead.core.records import Claim
from fairlead.core.state import RESET, Grant, QueueState

__all__ = [
    "Claimed",
    "Facts",
    "adopt_queue",
    "runs_before_reset",
    "still_running",
    "with_pending_reset",
]

Claimed = Sequence[tuple[MemberKey, Claim]]
"""The members that claim a queue, and their claims."""

Facts = Mapping[MemberKey, tuple[Epoch, Position | None]]
"""The newest release of each member during the barrier."""


def adopt_queue(
    value: QueueState, claims: Claimed, facts: Facts, identity: str | None, *, lost: bool
) -> QueueState:
    """Return a queue as its members claim it.

    ``identity`` is the present one of its topic, if known; ``lost``: the state knows nothing from
    before. Positions that name an identity count already.
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
        # Until here ``void`` kept older reports from counting.
        value = replace(value, void=NOTHING)
    at_work = still_running(claims, facts)
    out = tuple(
        grant
        for grant in value.overtaken
        if (grant.epoch, grant.member) in at_work and (grant.epoch, grant.member) != running
    )
    if running is None:
        return replace(value, chain=(), overtaken=out)
    # Not dropped, even if it was before: a member that learnt the generation before it read that
    # drop no longer obeys it. If the queue has another target, the decision drops it again.
    chain = (Grant(running[1], running[0]),)
    return _void_by_identity(replace(value, chain=chain, overtaken=out), claims, identity)


def _void_by_identity(adopted: QueueState, claims: Claimed, present: str | None) -> QueueState:
    """Set ``void`` by the identity that the running claim names, if it names one.

    An older state may have known neither the identity nor the grant, and then holds both void.
    """
    runs = adopted.chain[0]
    named = [
        claim.identity for key, claim in claims if (key, claim.epoch) == (runs.member, runs.epoch)
    ]
    identity = named[0] if named else None
    if identity is None or present is None:
        return adopted
    if identity != present:
        return replace(adopted, void=max(adopted.void, runs.epoch))
    return replace(
        adopted, void=min(adopted.void, Epoch(runs.epoch.generation, runs.epoch.number - 1))
    )


def still_running(claims: Claimed, facts: Facts) -> frozenset[tuple[Epoch, MemberKey]]:
    """Return the epochs under which members claim to work, and have not stopped since."""
    return frozenset(
        (claim.epoch, key)
        for key, claim in claims
        if claim.running and (key not in facts or facts[key][0] < claim.epoch)
    )


def with_pending_reset(adopted: QueueState) -> QueueState:
    """Settle a pending reset: whether a member has followed it shows only now.

    The running claim shows it. If there is none, and nobody reports having followed it, the group's
    commit in the data plane shows it; the queue waits for that.
    """
    asked = adopted.asked
    if asked is None:
        return adopted
    if adopted.base is not None and asked <= adopted.base:
        return replace(adopted, asked=None)
    if adopted.chain:
        return replace(adopted, base=asked, why=RESET, asked=None)
    return replace(adopted, base=None)


def runs_before_reset(adopted: QueueState, claims: Claimed) -> bool:
    """Tell whether the running grant is older than the queue's reset, which came in the barrier."""
    if not adopted.chain or adopted.base is None:
        return False
    runs = (adopted.chain[0].member, adopted.chain[0].epoch)
    resets = [claim.position.reset for key, claim in claims if (key, claim.epoch) == runs]
    return max(resets) < adopted.base.reset
