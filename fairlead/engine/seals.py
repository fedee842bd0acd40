"""Which ticks are a driver's: those of a claimed generation, whose first one shows a secret.

Clients may write to the heartbeats topic, so anybody could write a tick. Only drivers may write to
the generations topic. So a driver draws a secret for each heartbeats partition, writes the hashes
of the secrets into its claim, and shows each secret once: in its first tick of that partition. A
secret that can be read there comes too late for a forger, since the tick that showed it stands
before his.

Whoever reads ticks goes by these two answers: the engine, `verify`, commands and the view.

ADR 0167 gives the reasons.
"""

from collections.abc import Sequence
from hashlib import sha256

__all__ = ["is_believed", "is_shown", "seal_of"]


def seal_of(secret: str) -> str:
    """Return the seal of a secret, as a claim tells it: 64 hexadecimal digits."""
    return sha256(secret.encode()).hexdigest()


def is_shown(secret: str | None, seals: Sequence[str], shard: int) -> bool:
    """Tell whether a tick shows the secret that its driver's claim has sealed.

    Args:
        secret: what the tick says; None: nothing.
        seals: what the claim says, by shard; none: it is of a version that did not seal them, and
            its ticks are believed as they are.
        shard: the partition in which the tick stands.
    """
    if not seals:
        return True
    return secret is not None and seal_of(secret) == seals[shard]


def is_believed(generation: int, claimed: int) -> bool:
    """Tell whether a tick may be of a driver that there is.

    Every client may write heartbeats, and no client may write the generations topic: a tick of a
    generation that nobody has claimed is no engine's.

    Args:
        generation: what the tick says.
        claimed: the newest generation that a driver has claimed; 0: no claim was read, as in a part
            of a log, and any generation is believed.
    """
    return claimed == 0 or generation <= claimed
