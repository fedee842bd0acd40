"""How much each group may grow to, once its shard holds its share of all state (ADR 0165).

All groups of a shard are one row of Spark's state store, which every batch carries to Python and
back: one group's bytes cost every other group of its shard time, and all shards the heap.

The share is looked at where a decision is made, and the answer holds until the next one: a replay,
which reads the records between two decisions at once, refuses the same records.
"""

from collections.abc import Collection
from typing import Final

from fairlead.codec.shard import GroupSlot

__all__ = ["FULL_NOW", "group_bytes"]

FULL_NOW: Final = "full_now"
"""The word under which a shard tells that it holds its share."""


def group_bytes(slots: Collection[GroupSlot], state_bytes: int, shards: int) -> int:
    """Return what a group may grow to; 0: the shard has room.

    A group that has less than its part of a full shard may still grow to it, so that one group
    that took all the room does not keep small ones from a new member.

    Args:
        slots: the groups of the shard.
        state_bytes: what may be kept of the groups of all shards; 0: any number.
        shards: how many there are.
    """
    share = -(-state_bytes // shards)
    if not share or sum(len(slot.body) for slot in slots) < share:
        return 0
    return max(1, share // len(slots))
