"""How much each principal may ask, and may have open."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Literal

from fairlead.access.limits import AtOnce, TokenBucket
from fairlead.access.principals import Principal
from fairlead.access.refusals import AccessError, too_many
from fairlead.settings import LimitSettings

__all__ = ["Held", "Quotas"]

Held = Literal["sessions", "streams"]
"""What a principal may have open."""

_PRINCIPALS_KEPT: Final = 10_000
_TRY_AGAIN_S: Final = 5.0
"""Nobody knows when a principal will close a session or a stream."""


class Quotas:
    """The limits of each principal, by its name.

    Args:
        limits: `[access.limits]`, for principals without limits of their own.
    """

    def __init__(self, limits: LimitSettings) -> None:
        self._limits = limits
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()
        self._open: dict[Held, AtOnce] = {"sessions": AtOnce(), "streams": AtOnce()}

    def request(self, principal: Principal, now_s: float) -> None:
        """Count a request.

        Raises:
            AccessError: the principal sends too many.
        """
        per_second = self._limit(principal, "requests_per_second")
        at_once = self._limit(principal, "requests_at_once")
        bucket = self._buckets.get(principal.name)
        if bucket is None or (bucket.per_second, bucket.at_once) != (per_second, at_once):
            bucket = self._buckets[principal.name] = TokenBucket(per_second, at_once)
        self._buckets.move_to_end(principal.name)
        while len(self._buckets) > _PRINCIPALS_KEPT:
            self._buckets.popitem(last=False)
        wait_s = bucket.take(now_s)
        if wait_s:
            setting = "access.limits.requests_per_second"
            raise AccessError(too_many("requests per second", setting, per_second, wait_s))

    def enter(self, principal: Principal, what: Held) -> Callable[[], None]:
        """Open a session or a stream; return what closes it, which may be called again.

        Raises:
            AccessError: the principal has too many open.
        """
        limit, kept = self._limit(principal, what), self._open[what]
        if not kept.enter(principal.name, limit):
            words = f"open {what}"
            raise AccessError(too_many(words, f"access.limits.{what}", limit, _TRY_AGAIN_S))
        is_open = True

        def leave() -> None:
            nonlocal is_open
            if is_open:
                is_open = False
                kept.leave(principal.name)

        return leave

    def count(self, principal: Principal, what: Held) -> int:
        """Return how many the principal has open."""
        return self._open[what].count(principal.name)

    def _limit(self, principal: Principal, name: str) -> int:
        own: int | None = getattr(principal.limits, name)
        common: int = getattr(self._limits, name)
        return common if own is None else own
