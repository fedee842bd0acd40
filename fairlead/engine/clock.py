"""The shard's clock: a running sum over one partition of the heartbeats topic.

The clock is the log. It moves from one record of the partition to the next by the difference of
their append times, but never back and at most two tick periods at once. So it cannot run ahead of
what the shard has read (rule H9): a backlog, a pause or a slow batch makes nobody look dead. The
first record ever adds nothing.
"""

from dataclasses import dataclass

__all__ = ["TICKS_PER_MOVE", "ShardClock"]

TICKS_PER_MOVE = 2
"""The clock moves at most so many tick periods from one record to the next."""


@dataclass(slots=True)
class ShardClock:
    """The clock of a shard while rows are read.

    ``append_ms`` is the append time of the record that moved it last, None before the first;
    ``marker`` the highest generation with a tick, ``marker_ms`` the clock at its first tick, and
    ``control_end`` the place in control that counts as read before that tick does. ``jumps``: how
    often append times differed by more than the clock may move between two ticks of one driver;
    ``jumps_open``: those since the newest tick.
    """

    limit_ms: int
    clock_ms: int = 0
    append_ms: int | None = None
    marker: int = 0
    marker_ms: int = 0
    control_end: int = 0
    jumps: int = 0
    jumps_open: int = 0

    def advance(self, append_ms: int) -> int:
        """Move to the next record of the heartbeats partition; return the clock at it."""
        if self.append_ms is not None:
            difference = append_ms - self.append_ms
            self.clock_ms += min(max(difference, 0), self.limit_ms)
            self.jumps_open += difference > self.limit_ms
        self.append_ms = append_ms
        return self.clock_ms

    def tick(self, generation: int, control_end: int = 0) -> None:
        """Note a tick.

        Only between two ticks of one driver a gap is a jump: before the first tick of another
        driver none may have run.
        """
        if generation == self.marker:
            self.jumps += self.jumps_open
        if generation > self.marker:
            self.marker, self.marker_ms = generation, self.clock_ms
            self.control_end = control_end
        if generation == self.marker:
            self.jumps_open = 0
