"""The schedule of pulls: one request for each queue, due now or later."""

from collections import deque
from collections.abc import Hashable
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

Request = TypeVar("Request", bound=Hashable)


class PullSchedule(Generic[Request]):
    """Requests in the order in which they become due.

    It holds a request at most once; the caller puts a request back after it has served it. So no
    queue is pulled twice before every other queue that was due.
    """

    def __init__(self) -> None:
        self._now: deque[Request] = deque()
        self._later: list[tuple[int, int, Request]] = []
        self._numbers = count()
        self._due: dict[Request, int | None] = {}

    def __len__(self) -> int:
        """Return the number of requests that wait."""
        return len(self._due)

    def now(self, request: Request) -> None:
        """Make a request due at once, even if it was due later."""
        if request in self._due and self._due[request] is None:
            return
        self._due[request] = None
        self._now.append(request)

    def later(self, request: Request, due_ms: int) -> None:
        """Make a request due at this time, unless it waits already."""
        if request not in self._due:
            self._due[request] = due_ms
            heappush(self._later, (due_ms, next(self._numbers), request))

    def make_all_due(self) -> None:
        """Make all requests due at once, in the order of their times."""
        while self._later:
            due_ms, _, request = heappop(self._later)
            if self._due.get(request) == due_ms:
                self.now(request)

    def pop_due(self, now_ms: int) -> list[Request]:
        """Remove and return all requests that are due, in order."""
        while self._later and self._later[0][0] <= now_ms:
            due_ms, _, request = heappop(self._later)
            if self._due.get(request) == due_ms:
                self.now(request)
        due = list(self._now)
        self._now.clear()
        for request in due:
            del self._due[request]
        return due

    def next_due_ms(self) -> int | None:
        """Return when the next request is due; 0: at once, None: no request waits."""
        if self._now:
            return 0
        while self._later and self._due.get(self._later[0][2]) != self._later[0][0]:
            heappop(self._later)
        return self._later[0][0] if self._later else None
