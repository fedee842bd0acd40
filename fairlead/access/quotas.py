"""How much each principal may ask, and may have open."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from fairlead.access.limits import AtOnce, TokenBucket
from fairlead.access.principals import Principal
from fairlead.access.refusals import AccessError, too_many
from fairlead.settings import LimitSettings

__all__ = ["Quotas"]

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
        self._streams = AtOnce()

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

    def session(self, principal: Principal, open_now: int) -> None:
        """Check that a principal with so many open sessions may open one more.

        Raises:
            AccessError: it may not.
        """
        limit = self._limit(principal, "sessions")
        if limit and open_now >= limit:
            raise _too_many_open("sessions", limit)

    def enter_stream(self, principal: Principal) -> Callable[[], None]:
        """Open a stream; return what closes it, which may be called again.

        Raises:
            AccessError: the principal has too many open.
        """
        limit = self._limit(principal, "streams")
        if not self._streams.enter(principal.name, limit):
            raise _too_many_open("streams", limit)
        is_open = True

        def leave() -> None:
            nonlocal is_open
            if is_open:
                is_open = False
                self._streams.leave(principal.name)

        return leave

    def streams(self, principal: Principal) -> int:
        """Return how many streams the principal has open."""
        return self._streams.count(principal.name)

    def _limit(self, principal: Principal, name: str) -> int:
        own: int | None = getattr(principal.limits, name)
        common: int = getattr(self._limits, name)
        return common if own is None else own


def _too_many_open(what: str, limit: int) -> AccessError:
    return AccessError(too_many(f"open {what}", f"access.limits.{what}", limit, _TRY_AGAIN_S))
