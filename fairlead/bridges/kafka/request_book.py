"""Which requests wait for an answer, and when to try again one that could not be given.

Requests that ask the same are one. A request whose look-up failed is tried again after a short,
growing pause, because what makes a look-up fail right after a start (a coordinator still loading, a
leader not elected) passes faster than the engine asks again. After ``give_up_ms`` without being
asked again it is dropped.

Whoever may write requests may write any number of them. So those that were asked last are answered
first, a bounded number in a turn; and of more than are kept the oldest is dropped. Who needs an
answer asks again, and is then the newest. A request that names too many queues, or would have the
book hold too many, asks about all of its topic instead: that is short, and answers them too.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from fairlead.core.model import MessageQueue
from fairlead.core.outputs import Request

__all__ = ["KEPT_MAX", "QUEUES_ALL_MAX", "QUEUES_MAX", "TURN_MAX", "RequestBook"]

KEPT_MAX: Final = 10_000
"""More than an engine asks at once: a thousand groups of ten topics."""
QUEUES_MAX: Final = 4_096
"""A request for more queues than these asks about the whole topic."""
QUEUES_ALL_MAX: Final = 200_000
"""So many queues all requests together may name."""
TURN_MAX: Final = 200
"""A look-up takes some milliseconds: who asks now waits a second at most for those of a turn."""
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
        give_up_ms: how long a request is kept after it was last asked.
    """

    def __init__(self, *, pause_ms_max: int, give_up_ms: int) -> None:
        self._pause_ms_max = pause_ms_max
        self._give_up_ms = give_up_ms
        self._waiting: dict[_Key, _Waiting] = {}
        self._queues = 0
        """How many queues those that wait name."""
        self.answered_in_full = 0
        """How many were struck out since the start."""
        self.dropped = 0
        """How many were dropped since the start because too many waited."""
        self.not_reached = 0
        """How many were given up since the start although nobody had looked them up."""

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def add(self, request: Request, *, now_ms: int) -> None:
        """Take a request, due at once; one that asks the same of more queues absorbs it."""
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
        """Return the newest of the requests to try now, after dropping those given up.

        Of those that are returned the oldest comes first.
        """
        for key in [
            key for key, waiting in self._waiting.items() if waiting.give_up_at_ms <= now_ms
        ]:
            given_up = self._strike(key)
            self.not_reached += given_up is not None and not given_up.tried
        due = [entry.request for entry in self._waiting.values() if entry.next_at_ms <= now_ms]
        return due[-TURN_MAX:]

    def next_at_ms(self) -> int | None:
        """Return when the next request is due, None when none waits."""
        return min((waiting.next_at_ms for waiting in self._waiting.values()), default=None)

    def answered(self, request: Request) -> None:
        """Strike out a request that was answered in full, or that nobody can answer."""
        if self._strike(_key(request)) is not None:
            self.answered_in_full += 1

    def is_told_absent(self, request: Request) -> bool:
        """Tell whether it was answered, since it was last asked, that its topic is absent."""
        waiting = self._waiting.get(_key(request))
        return waiting is not None and waiting.told_absent

    def told_absent(self, request: Request) -> None:
        """Note that it was answered that its topic is absent; it waits for the topic to be made."""
        waiting = self._waiting.get(_key(request))
        if waiting is not None:
            waiting.told_absent = True

    def put_off(
        self, request: Request, *, now_ms: int, left: Iterable[MessageQueue] | None = None
    ) -> None:
        """Keep a request for another try; ``left``: for these queues only (None: as it was)."""
        waiting = self._waiting.get(_key(request))
        if waiting is None:
            return
        waiting.tried = True
        if left is not None:
            self._queues -= _named(waiting.request)
            rest = tuple(sorted(left))
            fits = self._queues + len(rest) <= QUEUES_ALL_MAX
            waiting.request = replace(request, queues=rest if fits else None)
            self._queues += _named(waiting.request)
        waiting.next_at_ms = now_ms + waiting.pause_ms
        waiting.pause_ms = min(2 * waiting.pause_ms, self._pause_ms_max)

    def _strike(self, key: _Key) -> _Waiting | None:
        """Take a request out; None: there is none."""
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            self._queues -= _named(waiting.request)
        return waiting


def _key(request: Request) -> _Key:
    return (request.group, request.topic, request.what, request.consume_timestamp_ms)


def _joined(one: Request, other: Request) -> Request:
    """Return the request for what either asks."""
    if one.queues is None or other.queues is None:
        queues = None
    else:
        queues = tuple(sorted({*one.queues, *other.queues}))
    return replace(one, queues=queues)


def _named(request: Request) -> int:
    return len(request.queues or ())
