"""Which ticks are a driver's: those of a claimed generation, whose first one shows a secret.

Clients may write to the heartbeats topic, so anybody could write a tick. Only drivers may write to
the generations topic. So a driver draws a secret for each heartbeats partition, writes the hashes
of the secrets into its claim, and shows each secret once: in its first tick of that partition. A
forger who reads the secret there is too late: the driver's tick stands before his.

Every reader of ticks asks these two functions: the engine, `verify`, commands and `observed`.

ADR 0167 gives the reasons.
"""

from collections.abc import Sequence
from hashlib import sha256

__all__ = ["is_believed", "is_shown", "seal_of"]


def seal_of(secret: str) -> str:
    """Return the seal of a secret, as in a claim: 64 hexadecimal digits."""
    return sha256(secret.encode()).hexdigest()


def is_shown(secret: str | None, seals: Sequence[str], shard: int) -> bool:
    """Tell whether a tick shows the secret that its driver's claim has sealed.

    Args:
        secret: that of the tick; None: it has none.
        seals: those of the claim, by shard; none: its ticks need no secret.
        shard: the partition of the tick.
    """
    if not seals:
        return True
    return secret is not None and seal_of(secret) == seals[shard]


def is_believed(generation: int, claimed: int) -> bool:
    """Tell whether a tick may be an existing driver's: somebody has claimed its generation.

    Args:
        generation: that of the tick.
        claimed: the newest claimed generation; 0: no claim was read, as in a part of a log, and any
            generation counts.
    """
    return claimed == 0 or generation <= claimed
