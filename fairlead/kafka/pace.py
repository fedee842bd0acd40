"""How long to wait for more records before the next request, by how many come."""

from typing import Final

__all__ = ["Pace"]

_BUSY_PER_S: Final = 1_000.0
"""At so many records a second it waits as long as it may."""
_MEMORY_S: Final = 1.0


class Pace:
    """A wait that grows with the rate: a lone record goes at once, and many share a request.

    Args:
        least_s: the wait where little comes.
        most_s: the wait where much comes.
    """

    def __init__(self, least_s: float, most_s: float) -> None:
        self._least_s, self._most_s = least_s, most_s
        self._per_s = 0.0
        self._looked_s: float | None = None

    def wait_s(self, records: int, now_s: float) -> float:
        """Return how long to wait after a request with so many records."""
        if self._looked_s is not None:
            passed_s = max(now_s - self._looked_s, 1e-6)
            share = min(1.0, passed_s / _MEMORY_S)
            self._per_s += share * (records / passed_s - self._per_s)
        self._looked_s = now_s
        busy = min(1.0, self._per_s / _BUSY_PER_S)
        return self._least_s + (self._most_s - self._least_s) * busy
