"""How much work STICKY may still do.

A strategy has no clock: a decision must come out the same when it is replayed on another machine.
So its limit is a number of elementary steps, which are the same everywhere. A step is to look at
one possible owner of a class, or at one class of a member; a node of a chain counts for several.
"""

__all__ = ["EFFORT", "NODE", "Effort"]

EFFORT = 50_000_000
"""The steps of an allocation unless its options say otherwise.

Measured in process time of one core of a busy two-core machine, with Python 3.11: 8 to 20 million
steps take a second, so this is three to six seconds.
"""

NODE = 15
"""The steps that it counts to come to a node of a search or of a chain."""


class Effort:
    """The steps that are left; whoever works counts them down."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    @property
    def spent(self) -> bool:
        """Tell whether nothing more may be tried."""
        return self.left < 0
