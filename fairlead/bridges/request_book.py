"""The requests that wait for an answer, and when to retry them.

Equal requests count as one. After a failed look-up the bridge retries after a short, growing pause:
the causes right after a start (a coordinator still loading, no leader elected) pass faster than the
engine repeats its request. If nobody repeats a request within ``give_up_ms``, it is dropped.

Anybody with the permission may write any number of requests. So the bridge answers the newest
first, a limited number per turn, and drops the oldest above a limit. Whoever still needs an answer
repeats the request, which is then the newest. A request that names too many queues, or would exceed
the book's limit of queues, becomes a request for the whole topic: that is short and includes them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from fairlead.core.model import MessageQueue
from fairlead.core.outputs import Request

__all__ = ["KEPT_MAX", "QUEUES_ALL_MAX", "QUEUES_MAX", "TURN_MAX", "RequestBook"]

KEPT_MAX: Final = 10_000
"""More requests than an engine makes at once: a thousand groups with ten topics."""
QUEUES_MAX: Final = 4_096
"""A request for more queues becomes a request for the whole topic."""
QUEUES_ALL_MAX: Final = 200_000
"""The most queues that all requests together may name."""
TURN_MAX: Final = 200
"""A look-up takes some milliseconds, so a new request waits at most a second for a turn."""
_FIRST_PAUSE_MS = 100


@dataclass(slots=True)
class _Waiting:
    request: Request
    give_up_at_ms: int
    next_at_ms: int
    pause_ms: int = _FIRST_PAUSE_MS
    told_absent: bool = False
    tried: bool = False


_Key = tuple[str, str, str, int | None]


class RequestBook:
    """The unanswered requests.

    Args:
        pause_ms_max: the longest pause between two tries.
        give_up_ms: how long to keep a request after its last repetition.
    """

    def __init__(self, *, pause_ms_max: int, give_up_ms: int) -> None:
        self._pause_ms_max = pause_ms_max
        self._give_up_ms = give_up_ms
        self._waiting: dict[_Key, _Waiting] = {}
        self._queues = 0
        """The number of queues that the waiting requests name."""
        self.answered_in_full = 0
        """The number of requests removed since the start."""
        self.dropped = 0
        """The number of requests dropped since the start because too many waited."""
        self.not_reached = 0
        """The number of requests given up since the start without any look-up."""

    @property
    def waiting(self) -> int:
        """The number of waiting requests."""
        return len(self._waiting)

    def add(self, request: Request, *, now_ms: int) -> None:
        """Add a request, due at once; merge it with an equal one for other queues."""
        key = _key(request)
        earlier = self._strike(key)
        if earlier is not None:
            request = _joined(earlier.request, request)
        named = _named(request)
        if named > QUEUES_MAX or self._queues + named > QUEUES_ALL_MAX:
            request = replace(request, queues=None)
        self._waiting[key] = _Waiting(request, now_ms + self._give_up_ms, now_ms)
        self._queues += _named(request)
        if len(self._waiting) > KEPT_MAX:
            self._strike(next(iter(self._waiting)))
            self.dropped += 1

    def due(self, *, now_ms: int) -> list[Request]:
        """Return the newest due requests, oldest first, after dropping those given up."""
        for key in [
            key for key, waiting in self._waiting.items() if waiting.give_up_at_ms <= now_ms
        ]:
            given_up = self._strike(key)
            self.not_reached += given_up is not None and not given_up.tried
        due = [entry.request for entry in self._waiting.values() if entry.next_at_ms <= now_ms]
        return due[-TURN_MAX:]

    def next_at_ms(self) -> int | None:
        """Return when the next request is due; None if none waits."""
        return min((waiting.next_at_ms for waiting in self._waiting.values()), default=None)

    def answered(self, request: Request) -> None:
        """Remove a request that was answered in full, or that nobody can answer."""
        if self._strike(_key(request)) is not None:
            self.answered_in_full += 1

    def is_told_absent(self, request: Request) -> bool:
        """Tell whether the bridge has answered "absent" since the request's last repetition."""
        waiting = self._waiting.get(_key(request))
        return waiting is not None and waiting.told_absent

    def told_absent(self, request: Request) -> None:
        """Note the answer "absent"; the request waits until somebody creates the topic."""
        waiting = self._waiting.get(_key(request))
        if waiting is not None:
            waiting.told_absent = True

    def put_off(
        self, request: Request, *, now_ms: int, left: Iterable[MessageQueue] | None = None
    ) -> bool:
        """Keep a request for another attempt; ``left``: only for these queues (None: unchanged).

        Returns:
            Whether this was the first attempt since somebody made the request, or repeated it.
        """
        waiting = self._waiting.get(_key(request))
        if waiting is None:
            return False
        is_first, waiting.tried = not waiting.tried, True
        if left is not None:
            self._queues -= _named(waiting.request)
            rest = tuple(sorted(left))
            fits = self._queues + len(rest) <= QUEUES_ALL_MAX
            waiting.request = replace(request, queues=rest if fits else None)
            self._queues += _named(waiting.request)
        waiting.next_at_ms = now_ms + waiting.pause_ms
        waiting.pause_ms = min(2 * waiting.pause_ms, self._pause_ms_max)
        return is_first

    def _strike(self, key: _Key) -> _Waiting | None:
        """Remove a request and return it; None if there is none."""
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            self._queues -= _named(waiting.request)
        return waiting


def _key(request: Request) -> _Key:
    return (request.group, request.topic, request.what, request.consume_timestamp_ms)


def _joined(one: Request, other: Request) -> Request:
    """Return one request for the queues of both."""
    if one.queues is None or other.queues is None:
        queues = None
    else:
        queues = tuple(sorted({*one.queues, *other.queues}))
    return replace(one, queues=queues)


def _named(request: Request) -> int:
    return len(request.queues or ())
