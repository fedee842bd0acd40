"""How much work STICKY may still do.

A strategy has no clock: a decision must come out the same when it is replayed on another machine.
So its limit is a number of elementary steps, which are the same everywhere. A step is to look at
one possible owner of a class, or at one class of a member; a node of a chain counts for several.
"""

__all__ = ["BALANCE", "EFFORT", "MOVES", "NODE", "Effort"]

EFFORT = 200_000_000
"""The steps of an allocation unless its options say otherwise.

Measured in process time of one core of a busy two-core machine, with Python 3.11: mostly 20 to 60
million steps take a second, so this is three to ten seconds.
"""

BALANCE = "the balance may not be the best"
MOVES = "the moves may not be the fewest"

NODE = 60
"""The steps that it counts to come to a node of a search or of a chain."""


class Effort:
    """The steps that are left; whoever works counts them down.

    ``unfinished``: what may be better, because none were left to find it.
    """

    __slots__ = ("left", "steps", "unfinished")

    def __init__(self, steps: int) -> None:
        self.left = self.steps = steps
        self.unfinished: list[str] = []

    @property
    def spent(self) -> bool:
        """Tell whether nothing more may be tried."""
        return self.left < 0

    def notes(self) -> tuple[str, ...]:
        """Return what the answer has to say of its limit."""
        return tuple(
            f"cut short after {self.steps} steps: {what}; a greater effort may find better"
            for what in dict.fromkeys(self.unfinished)
        )
