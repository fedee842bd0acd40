"""One of Kafka's own consumer groups, with its members as the coordinator reports them.

It decides whether a group counts as active. A group also counts as active if this client does not
know the members' protocol and cannot list them.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

__all__ = ["NativeGroup", "NativeMember", "read_native_group"]

_AT_REST: Final = frozenset(("", "Dead", "Empty"))
"""States of a group without members; the first: it never had a member."""


class NativeMember(NamedTuple):
    """A consumer that Kafka counts as a member."""

    member_id: str
    client_id: str
    host: str

    def __str__(self) -> str:
        return f"{self.client_id} at {self.host}"


class NativeGroup(NamedTuple):
    """A group; ``state`` is Kafka's word, Dead if there is no group of this name."""

    state: str
    members: tuple[NativeMember, ...]

    @property
    def is_at_work(self) -> bool:
        """Whether it has members."""
        return bool(self.members) or self.state not in _AT_REST


def read_native_group(
    group: str, listed: Iterable[Mapping[str, Any]], described: Mapping[str, Any]
) -> NativeGroup:
    """Return a group from the cluster's list of groups and its description of this one."""
    states = [str(each["group_state"]) for each in listed if each["group_id"] == group]
    members = tuple(
        NativeMember(each["member_id"], each["client_id"], each["client_host"].lstrip("/"))
        for each in described.get("members") or ()
    )
    # The description of a group with another protocol says Dead; the list has its real state.
    state = str(described.get("group_state") or "Dead")
    return NativeGroup(states[0] if states else state, members)
