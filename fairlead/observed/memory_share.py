"""How much a view keeps of all members together: clients can invent groups."""

from dataclasses import dataclass
from typing import Final

__all__ = ["GROUP_BYTES", "MEMBERS_BYTES_MAX", "MemoryShare"]

MEMBERS_BYTES_MAX: Final = 128_000_000
"""Four times what an engine keeps of all groups by default; a process takes about twice as much."""
GROUP_BYTES: Final = 16_384
"""Each group may keep this much, about forty members, however much there is of others."""


@dataclass(slots=True)
class MemoryShare:
    """How much is kept of the members of all groups.

    Attributes:
        most: the most bytes kept of groups with more than a few members.
        used: how many bytes are kept.
    """

    most: int = MEMBERS_BYTES_MAX
    used: int = 0

    def has_room(self, own: int, more: int) -> bool:
        """Tell whether a group that keeps ``own`` bytes may keep ``more``."""
        return own + more <= GROUP_BYTES or self.used + more <= self.most
