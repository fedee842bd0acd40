"""Counts the work that STICKY may still do.

A strategy has no clock, because a replay on another machine must come to the same decision. So its
limit is a number of elementary steps, which are the same everywhere. One step examines one possible
owner of a class, or one class of a member; a node of a chain counts as several steps.
"""

__all__ = ["BALANCE", "EFFORT", "MOVES", "NODE", "Effort"]

EFFORT = 200_000_000
"""The default number of steps of an allocation: three to ten seconds.

With Python 3.11 one core of a busy two-core machine makes mostly 20 to 60 million steps per second
of process time.
"""

BALANCE = "the balance may not be the best"
MOVES = "the moves may not be the fewest"

NODE = 60
"""The steps that count for reaching a node of a search or of a chain."""


class Effort:
    """The remaining steps; each algorithm counts them down.

    ``unfinished``: what a greater effort might improve.
    """

    __slots__ = ("left", "steps", "unfinished")

    def __init__(self, steps: int) -> None:
        self.left = self.steps = steps
        self.unfinished: list[str] = []

    @property
    def spent(self) -> bool:
        """Tell whether no steps remain."""
        return self.left < 0

    def notes(self) -> tuple[str, ...]:
        """Return the answer's notes about its limit."""
        return tuple(
            f"cut short after {self.steps} steps: {what}; a greater effort may improve it"
            for what in dict.fromkeys(self.unfinished)
        )
