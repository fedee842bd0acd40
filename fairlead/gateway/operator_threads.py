"""Threads for what takes seconds: a bounded number, so that polls of clients are never delayed."""

import asyncio
import contextlib
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from fairlead.http.problems import Problem

__all__ = ["AT_ONCE", "OF_ONE", "OperatorThreads"]

AT_ONCE: Final = 8
"""So many requests of operators are at work at once."""
OF_ONE: Final = 4
"""So many of them are of one principal."""
_TRY_AGAIN: Final = {"retry-after": "2"}

_Result = TypeVar("_Result")


class OperatorThreads:
    """Runs each request of an operator on a thread of its own; refuses what is too much.

    Nothing waits for a thread: who is refused knows at once, and tries again. Whoever goes away
    takes up a place until the work has ended, because a thread cannot be stopped.
    """

    def __init__(self, at_once: int = AT_ONCE, of_one: int = OF_ONE) -> None:
        """Begin with nothing at work.

        Args:
            at_once: so many requests are at work at once.
            of_one: so many of them are of one principal.
        """
        self._at_once, self._of_one = at_once, of_one
        self._running: Counter[str] = Counter()

    async def run(self, principal: str, work: Callable[[], _Result]) -> _Result | Problem:
        """Return what the work returns, or why it is refused; all calls are of one event loop."""
        refusal = self._refusal(principal)
        if refusal is not None:
            return refusal
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Result] = loop.create_future()
        self._running[principal] += 1

        def end(settle: Callable[[], None]) -> None:
            self._running[principal] -= 1
            if not self._running[principal]:
                del self._running[principal]
            if not future.done():
                settle()

        def work_and_tell() -> None:
            settle: Callable[[], None]
            try:
                settle = partial(future.set_result, work())
            except BaseException as error:  # noqa: BLE001 - it is raised where it is awaited
                settle = partial(future.set_exception, error)
            # A server that stops has closed its loop.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(end, settle)

        threading.Thread(target=work_and_tell, name="operator", daemon=True).start()
        return await future

    def _refusal(self, principal: str) -> Problem | None:
        if self._running[principal] >= self._of_one:
            detail = f"{self._of_one} requests of {principal} are at work."
            return _full(429, "too_many_operations", detail)
        if self._running.total() >= self._at_once:
            detail = f"{self._at_once} requests that take long are at work."
            return _full(503, "operations_full", detail)
        return None


def _full(status: int, kind: str, detail: str) -> Problem:
    return Problem(status, kind, detail, "Try again when one has ended.", headers=_TRY_AGAIN)
