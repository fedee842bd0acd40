"""How much to keep of a group: little of each of thousands, much of the one that is asked about."""

from dataclasses import dataclass
from typing import Final

__all__ = ["MANY", "ONE", "Bounds"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much to keep of one group at most.

    Attributes:
        decisions: the newest ones, however young.
        ends: per queue, the grants that were resolved last.
        releases: per queue, the newest ones; few of its grants are unresolved.
    """

    decisions: int
    ends: int
    releases: int


MANY: Final = Bounds(decisions=1_000, ends=4, releases=4)
"""For a view of all groups."""

ONE: Final = Bounds(decisions=100_000, ends=64, releases=64)
"""For a view of one group, which a command reads once."""
