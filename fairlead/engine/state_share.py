"""The size to which each group may grow once its shard holds its share of all state (ADR 0165).

All groups of a shard are one row of Spark's state store, which every batch carries to Python and
back: one group's bytes cost every other group of its shard time, and all shards the heap.

The shard computes it with a decision, and it holds until the next one: a replay, which reads all
records between two decisions at once, refuses the same records.
"""

from collections.abc import Collection
from typing import Final

from fairlead.codec.shard import GroupSlot

__all__ = ["FULL_NOW", "group_bytes"]

FULL_NOW: Final = "full_now"
"""Counter name: the shard holds its share."""


def group_bytes(slots: Collection[GroupSlot], state_bytes: int, shards: int) -> int:
    """Return the size to which a group may grow; 0: the shard has room.

    A group below its part of a full shard may still grow to it, so that one group that took all the
    room does not keep small ones from a new member.

    Args:
        slots: the groups of the shard.
        state_bytes: the limit of all shards together; 0: none.
        shards: the number of shards.
    """
    share = -(-state_bytes // shards)
    if not share or sum(len(slot.body) for slot in slots) < share:
        return 0
    return max(1, share // len(slots))
