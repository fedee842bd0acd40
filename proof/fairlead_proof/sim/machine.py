"""The machine of one client: a drifting clock, and times at which it is frozen."""

from collections.abc import Callable

from fairlead_proof.sim.timeline import Timeline

__all__ = ["Machine", "OnMachine"]


class Machine:
    """Wakes one process in time for its next event, and never while it is frozen.

    Attributes:
        alive: whether the process has not died.
        stands_until_ms: it is frozen until then, in true time.
    """

    def __init__(
        self, timeline: Timeline, begin_ms: int, drift_permille: int, turn: Callable[[], None]
    ) -> None:
        self._timeline = timeline
        self._begin_ms = begin_ms
        self._rate = 1_000 + drift_permille
        self._turn = turn
        self._wakes_ms = -1
        self.alive = True
        self.stands_until_ms = 0

    @property
    def local_ms(self) -> int:
        """The time on the machine's own clock."""
        return self._begin_ms + self._timeline.now_ms * self._rate // 1_000

    @property
    def stands(self) -> bool:
        """Whether the process is frozen."""
        return self.stands_until_ms > self._timeline.now_ms

    def true_ms(self, local_ms: int) -> int:
        """Return when the machine's clock will show this time."""
        return -(-(local_ms - self._begin_ms) * 1_000 // self._rate)

    def wake_at(self, at_ms: int) -> None:
        """Give the process a turn at this time, or sooner."""
        at_ms = max(at_ms, self._timeline.now_ms, self.stands_until_ms)
        if self._timeline.now_ms <= self._wakes_ms <= at_ms:
            return
        self._wakes_ms = at_ms
        self._timeline.at(at_ms, lambda: self._wake(at_ms))

    def _wake(self, at_ms: int) -> None:
        if at_ms != self._wakes_ms or not self.alive:
            return
        self._wakes_ms = -1
        if self.stands:
            self.wake_at(self.stands_until_ms)
            return
        self._turn()

    def freeze(self, wait_ms: int) -> None:
        """Freeze the process for this time."""
        self.stands_until_ms = max(self.stands_until_ms, self._timeline.now_ms + wait_ms)
        self.wake_at(self.stands_until_ms)

    def thaw(self) -> None:
        """Let the process run again now."""
        self.stands_until_ms = self._timeline.now_ms
        self.wake_at(self._timeline.now_ms)


class OnMachine:
    """A process on a machine of its own."""

    __slots__ = ()

    machine: Machine

    @property
    def alive(self) -> bool:
        """Whether the process has not ended."""
        return self.machine.alive

    @property
    def stands_until_ms(self) -> int:
        """Until when the process is frozen."""
        return self.machine.stands_until_ms
