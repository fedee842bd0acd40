"""Which queue is pulled when: one request each, now or later, first come first served."""

from collections import deque
from collections.abc import Hashable
from heapq import heappop, heappush
from itertools import count
from typing import Generic, TypeVar

Request = TypeVar("Request", bound=Hashable)


class PullSchedule(Generic[Request]):
    """Requests in the order in which they become due; those due at once in the order they came.

    A request is in it once at most: each time it is taken, whoever took it puts it back. So of
    many queues none is pulled twice before each other one that was due.
    """

    def __init__(self) -> None:
        self._now: deque[Request] = deque()
        self._later: list[tuple[int, int, Request]] = []
        self._numbers = count()
        self._due: dict[Request, int | None] = {}

    def __len__(self) -> int:
        """Return how many requests wait."""
        return len(self._due)

    def now(self, request: Request) -> None:
        """Let a request be due at once, also one that was to be due later."""
        if request in self._due and self._due[request] is None:
            return
        self._due[request] = None
        self._now.append(request)

    def later(self, request: Request, due_ms: int) -> None:
        """Let a request be due at a time, unless it waits already."""
        if request not in self._due:
            self._due[request] = due_ms
            heappush(self._later, (due_ms, next(self._numbers), request))

    def make_all_due(self) -> None:
        """Let everything be due at once, in the order it would have become due."""
        while self._later:
            due_ms, _, request = heappop(self._later)
            if self._due.get(request) == due_ms:
                self.now(request)

    def pop_due(self, now_ms: int) -> list[Request]:
        """Take out every request that is due, in order."""
        while self._later and self._later[0][0] <= now_ms:
            due_ms, _, request = heappop(self._later)
            if self._due.get(request) == due_ms:
                self.now(request)
        taken = list(self._now)
        self._now.clear()
        for request in taken:
            del self._due[request]
        return taken

    def next_due_ms(self) -> int | None:
        """Return when the next request is due; None when none waits. 0: at once."""
        if self._now:
            return 0
        while self._later and self._due.get(self._later[0][2]) != self._later[0][0]:
            heappop(self._later)
        return self._later[0][0] if self._later else None
