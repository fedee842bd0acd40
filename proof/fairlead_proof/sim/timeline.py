"""Virtual time: the next events and their times. Nothing here reads a real clock."""

from collections.abc import Callable
from heapq import heappop, heappush

__all__ = ["Happening", "Timeline"]

Happening = Callable[[], None]


class Timeline:
    """Happenings in the order of their time; those of one millisecond in the order of planning.

    Attributes:
        now_ms: the present, in milliseconds since the schedule began.
        happened: how many happenings there were.
    """

    def __init__(self) -> None:
        self.now_ms = 0
        self.happened = 0
        self._planned = 0
        self._due: list[tuple[int, int, Happening]] = []

    def at(self, at_ms: int, happening: Happening) -> None:
        """Plan a happening; a time in the past means next."""
        self._planned += 1
        heappush(self._due, (max(at_ms, self.now_ms), self._planned, happening))

    def after(self, wait_ms: int, happening: Happening) -> None:
        """Plan a happening after this time."""
        self.at(self.now_ms + wait_ms, happening)

    def run_until(self, end_ms: int) -> None:
        """Run everything due up to this time, and move the present to it."""
        due = self._due
        while due and due[0][0] <= end_ms:
            self.now_ms, _, happening = heappop(due)
            self.happened += 1
            happening()
        self.now_ms = max(self.now_ms, end_ms)
