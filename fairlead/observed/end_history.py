"""When a queue's end was where: few samples, dense for the recent past and sparse before."""

from array import array
from bisect import bisect_right
from typing import Final, NamedTuple

__all__ = ["EndHistory", "Reached"]

_SAMPLES_MAX: Final = 24
_YOUNG: Final = 8
"""This many of the newest samples are never thinned out."""
_SECOND_MS: Final = 1_000


class Reached(NamedTuple):
    """When the end of a queue passed an offset.

    ``at_ms`` lies between two samples that are ``within_ms`` apart. ``earlier``: the end passed the
    offset some time before the first sample, whose time ``at_ms`` is.
    """

    at_ms: int
    within_ms: int
    earlier: bool = False


class EndHistory:
    """Samples of (time, end) of one queue; both only grow.

    An end below the one before belongs to a recreated topic: all earlier samples are forgotten.
    """

    __slots__ = ("_ends", "_times")

    def __init__(self) -> None:
        """Begin with no sample."""
        self._times = array("q")
        self._ends = array("q")

    def __len__(self) -> int:
        """Return how many samples are kept."""
        return len(self._times)

    @property
    def newest(self) -> tuple[int, int] | None:
        """The time and the end of the newest sample; None: there is none."""
        return (self._times[-1], self._ends[-1]) if self._times else None

    def add(self, at_ms: int, end: int, *, still_ms: int | None = None) -> None:
        """Add a sample.

        ``still_ms``: until then the end stayed where the sample before says.
        """
        times, ends = self._times, self._ends
        if times and end < ends[-1]:
            del times[:], ends[:]
        if times and at_ms <= times[-1]:
            ends[-1] = end
            return
        if len(times) > 1 and end == ends[-1] == ends[-2]:
            times[-1] = at_ms
            return
        if still_ms is not None and times and times[-1] < still_ms < at_ms and end > ends[-1]:
            self.add(still_ms, ends[-1])
        times.append(at_ms)
        ends.append(end)
        if len(times) > _SAMPLES_MAX:
            self._thin()

    def forget_below(self, offset: int) -> None:
        """Forget the samples that only date offsets below this one."""
        below = bisect_right(self._ends, offset) - 1
        if below > 0:
            del self._times[:below], self._ends[:below]

    def reached(self, offset: int) -> Reached | None:
        """Return when the end passed this offset; None: it has not, or nothing is known.

        Between two samples the end counts as having grown evenly.
        """
        times, ends = self._times, self._ends
        if not times or offset >= ends[-1]:
            return None
        index = bisect_right(ends, offset) - 1
        if index < 0:
            return Reached(times[0], 0, earlier=True)
        within_ms = times[index + 1] - times[index]
        share = (offset - ends[index]) / (ends[index + 1] - ends[index])
        return Reached(times[index] + int(share * within_ms), within_ms)

    def _thin(self) -> None:
        """Leave out every other one of the older samples; the first one stays."""
        old = len(self._times) - _YOUNG
        for samples in (self._times, self._ends):
            samples[:old] = samples[:old:2]
