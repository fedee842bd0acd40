"""A consumer group of Kafka's own: who is in it, as its coordinator tells.

Decides when a group counts as being at work: also where its members cannot be listed, because they
speak a protocol that this client does not.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

__all__ = ["NativeGroup", "NativeMember", "read_native_group"]

_AT_REST: Final = frozenset(("", "Dead", "Empty"))
"""States of a group that nobody is in; the first is that of one that never had a member."""


class NativeMember(NamedTuple):
    """A consumer that Kafka counts as a member."""

    member_id: str
    client_id: str
    host: str

    def __str__(self) -> str:
        return f"{self.client_id} at {self.host}"


class NativeGroup(NamedTuple):
    """A group; ``state`` in Kafka's words, Dead if there is none of this name."""

    state: str
    members: tuple[NativeMember, ...]

    @property
    def is_at_work(self) -> bool:
        """Whether somebody is in it."""
        return bool(self.members) or self.state not in _AT_REST


def read_native_group(
    group: str, listed: Iterable[Mapping[str, Any]], described: Mapping[str, Any]
) -> NativeGroup:
    """Return a group from what a cluster lists of all groups, and tells of this one."""
    states = [str(each["group_state"]) for each in listed if each["group_id"] == group]
    members = tuple(
        NativeMember(each["member_id"], each["client_id"], each["client_host"].lstrip("/"))
        for each in described.get("members") or ()
    )
    # Of a group of another protocol its description says Dead, and the list says how it is.
    told = str(described.get("group_state") or "Dead")
    return NativeGroup(states[0] if states else told, members)
