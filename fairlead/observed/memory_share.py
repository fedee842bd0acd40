"""How much of all members a view keeps together: whoever may write heartbeats may invent groups."""

from dataclasses import dataclass
from typing import Final

__all__ = ["GROUP_BYTES", "MEMBERS_BYTES_MAX", "MemoryShare"]

MEMBERS_BYTES_MAX: Final = 128_000_000
"""Four times what an engine keeps of all groups by default; a process takes about twice as much."""
GROUP_BYTES: Final = 16_384
"""So much, of some forty members, there is for each group however much there is of others."""


@dataclass(slots=True)
class MemoryShare:
    """What is kept of the members of all groups.

    Attributes:
        most: so many bytes, about, are kept of groups that have more than a few members.
        used: how many are.
    """

    most: int = MEMBERS_BYTES_MAX
    used: int = 0

    def has_room(self, own: int, more: int) -> bool:
        """Tell whether a group with so many bytes may have so many more."""
        return own + more <= GROUP_BYTES or self.used + more <= self.most
