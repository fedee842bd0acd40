"""Limits of callers: pure classes that are given the time, in seconds of any clock."""

from collections import OrderedDict, deque
from typing import Any, Final

__all__ = ["AtOnce", "FailedLogins", "TokenBucket"]

_ADDRESSES_KEPT: Final = 10_000
"""The addresses and credentials that are remembered; the one that was seen longest ago goes."""


class TokenBucket:
    """A rate, and how much may come at once after a quiet time.

    Args:
        per_second: the rate; 0: no limit.
        at_once: how much may come at once.
    """

    def __init__(self, per_second: float, at_once: float) -> None:
        self.per_second = per_second
        self.at_once = at_once
        self._level = at_once
        self._filled_s: float | None = None

    def take(self, now_s: float) -> float:
        """Take one; return 0, or the seconds after which there is one."""
        if not self.per_second:
            return 0.0
        if self._filled_s is not None:
            gained = max(0.0, now_s - self._filled_s) * self.per_second
            self._level = min(self.at_once, self._level + gained)
        self._filled_s = now_s
        if self._level >= 1:
            self._level -= 1
            return 0.0
        return (1 - self._level) / self.per_second


class AtOnce:
    """How much each of some names has open at once."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}

    def count(self, name: str) -> int:
        """Return how much a name has open."""
        return self._open.get(name, 0)

    def enter(self, name: str, limit: int) -> bool:
        """Open one more, unless there are as many as ``limit`` (0: no limit)."""
        count = self.count(name)
        if limit and count >= limit:
            return False
        self._open[name] = count + 1
        return True

    def leave(self, name: str) -> None:
        """Close one."""
        count = self.count(name)
        if count > 1:
            self._open[name] = count - 1
        else:
            self._open.pop(name, None)


class FailedLogins:
    """Failed logins by address; after too many, only credentials that succeeded there go on.

    Args:
        failures_max: how many are too many.
        window_s: how long each counts.
    """

    def __init__(self, failures_max: int, window_s: float) -> None:
        self._failures_max = failures_max
        self._window_s = window_s
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()
        self._succeeded: OrderedDict[tuple[str, str], None] = OrderedDict()

    def wait_s(self, address: str, credential: str, now_s: float) -> float:
        """Return how long an address must wait; 0: it may try.

        ``credential`` names what it shows, without a secret.
        """
        failed = self._recent(address, now_s)
        if len(failed) < self._failures_max or (address, credential) in self._succeeded:
            return 0.0
        return failed[0] + self._window_s - now_s

    def failed(self, address: str, now_s: float) -> None:
        """Count a failed login."""
        failed = self._recent(address, now_s)
        failed.append(now_s)
        if len(failed) > self._failures_max:
            failed.popleft()
        self._failed[address] = failed
        _keep_newest(self._failed, address)

    def succeeded(self, address: str, credential: str) -> None:
        """Remember that a credential is right."""
        self._succeeded[address, credential] = None
        _keep_newest(self._succeeded, (address, credential))

    def _recent(self, address: str, now_s: float) -> deque[float]:
        failed = self._failed.get(address, deque())
        while failed and now_s - failed[0] >= self._window_s:
            failed.popleft()
        return failed


def _keep_newest(kept: OrderedDict[Any, Any], key: object) -> None:
    kept.move_to_end(key)
    while len(kept) > _ADDRESSES_KEPT:
        kept.popitem(last=False)
