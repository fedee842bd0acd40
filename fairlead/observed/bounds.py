"""How much is kept of a group: little of each of thousands, much of the one that is asked about."""

from dataclasses import dataclass
from typing import Final

__all__ = ["MANY", "ONE", "Bounds"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is kept of one group at most.

    Attributes:
        decisions: the newest, however young they are.
        ends: of a queue, the grants that were resolved last.
        releases: of a queue, the newest; few of its grants are unresolved.
    """

    decisions: int
    ends: int
    releases: int


MANY: Final = Bounds(decisions=1_000, ends=4, releases=4)
"""For a fold of all groups."""

ONE: Final = Bounds(decisions=100_000, ends=64, releases=64)
"""For a fold of one group, which a command reads and forgets."""
