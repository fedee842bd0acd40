"""What Spark's state store keeps of one shard: one row of primitive and binary columns."""

from typing import NamedTuple

__all__ = ["StoredShard"]


class StoredShard(NamedTuple):
    """One shard as it is stored.

    ``version`` is that of all stored bytes. ``clock_ms`` is the shard's clock and ``append_ms`` the
    append time of the last record that moved it; both stand beside the bytes so that a reader of
    the state store sees them. ``body`` holds what rarely changes, ``liveness`` what changes with
    each batch.
    """

    version: int
    clock_ms: int
    append_ms: int
    body: bytes
    liveness: bytes
