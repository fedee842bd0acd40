"""How long a thin client pauses before it asks again: longer each time in a row, and by chance.

So the clients of a gateway that has restarted do not come back all at once.
"""

from collections.abc import Callable
from typing import Final

__all__ = ["Pauses"]

_FIRST_MS: Final = 200
_LEASED_MAX_MS: Final = 1_000
"""A client with a lease asks in time before it ends."""
_MAX_MS: Final = 3_000
_DOUBLINGS_MAX: Final = 10


class Pauses:
    """Counts failures in a row.

    Args:
        chance: returns a number from 0 to 1.
    """

    def __init__(self, chance: Callable[[], float]) -> None:
        self._chance = chance
        self._failures = 0
        self._lost = 0

    def answered(self) -> None:
        """Note that a request was answered."""
        self._failures = 0

    def went_on(self) -> None:
        """Note that a session has gone on: the next join begins at once."""
        self._lost = 0

    def lost(self) -> None:
        """Note that a session was lost."""
        self._lost += 1

    def failed(self, *, leased: bool) -> int:
        """Note a failed request; return the pause in ms, beside the session's own."""
        self._failures += 1
        longest = _LEASED_MAX_MS if leased else _MAX_MS
        return self._pause(self._failures - 1, longest)

    def before_join(self) -> int:
        """Return the pause before a join: none, unless several sessions ended at once."""
        return 0 if self._lost <= 1 else self._pause(self._lost - 1, _MAX_MS)

    def _pause(self, times: int, longest: int) -> int:
        most = min(longest, _FIRST_MS << min(times, _DOUBLINGS_MAX))
        return int(most * self._chance())
