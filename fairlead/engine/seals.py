"""Seals: how a shard knows that the first tick of a driver was written by that driver.

Clients may write to the heartbeats topic, so anybody could write a tick. Only drivers may write to
the generations topic. So a driver draws a secret for each heartbeats partition, writes the hashes
of the secrets into its claim, and shows each secret once: in its first tick of that partition. A
secret that can be read there comes too late for a forger, since the tick that showed it stands
before his.
"""

from hashlib import sha256

__all__ = ["seal_of"]


def seal_of(secret: str) -> str:
    """Return the seal of a secret, as a claim tells it: 64 hexadecimal digits."""
    return sha256(secret.encode()).hexdigest()
