"""A rate limit with room for a burst: a bucket that records fill and a steady rate empties."""

from dataclasses import dataclass
from typing import Final

__all__ = ["LeakyBucket"]

_BURST_SECONDS: Final = 5
"""So many seconds' worth may come at once after a quiet time."""
_THOUSAND: Final = 1_000


@dataclass(slots=True)
class LeakyBucket:
    """One bucket. Levels are in thousandths: a rate per second is as many of them per millisecond.

    Attributes:
        level: how full it was.
        level_ms: the clock at that level.
    """

    level: int
    level_ms: int

    def has_room(self, amount: int, rate: int, now_ms: int) -> bool:
        """Tell whether an amount fits at a rate per second."""
        return self._filled(amount, rate, now_ms) <= rate * _BURST_SECONDS * _THOUSAND

    def add(self, amount: int, rate: int, now_ms: int) -> None:
        """Add an amount, whether it fits or not."""
        self.level, self.level_ms = self._filled(amount, rate, now_ms), now_ms

    def _filled(self, amount: int, rate: int, now_ms: int) -> int:
        return max(0, self.level - rate * (now_ms - self.level_ms)) + amount * _THOUSAND
