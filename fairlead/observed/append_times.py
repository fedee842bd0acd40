"""When the records of a partition were appended, to about a tenth of a second."""

from array import array
from bisect import bisect_right
from typing import Final

__all__ = ["AppendTimes"]

_APART_MS: Final = 100
_KEPT_MAX: Final = 4_096
"""Samples of one partition: at least some minutes."""


class AppendTimes:
    """Offsets and append times of one partition, at most one sample per tenth of a second."""

    __slots__ = ("_offsets", "_times")

    def __init__(self) -> None:
        """Begin with no record."""
        self._offsets = array("q")
        self._times = array("q")

    def add(self, offset: int, append_ms: int) -> None:
        """Add a record; records come in order."""
        if self._times and append_ms < self._times[-1] + _APART_MS:
            return
        self._offsets.append(offset)
        self._times.append(append_ms)
        if len(self._times) > _KEPT_MAX:
            del self._offsets[: _KEPT_MAX // 2], self._times[: _KEPT_MAX // 2]

    def at(self, offset: int) -> int | None:
        """Return when a record was appended, or shortly before; None: it is too old to know."""
        index = bisect_right(self._offsets, offset) - 1
        return None if index < 0 else self._times[index]
