"""Whether the caller of a request is still there, by the messages of an ASGI server."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from fairlead_client.session.clock import now_ms

__all__ = ["Receive", "Standstill", "body_of_request", "caller_gone", "unless_gone"]

_Result = TypeVar("_Result")

Receive = Callable[[], Awaitable[dict[str, Any]]]

_STILL_S: Final = 1.0
"""A pause of the loop is a standstill from here on."""
_AFTERWARDS_S: Final = 5.0
"""What came meanwhile may be read so much later, on a busy machine."""
_LOOK_S: Final = 0.25
_PASSES: Final = 8
"""So many passes of the loop bring a request and the end of its connection, if both are there: four
do without TLS, and the others are to spare."""


class Standstill:
    """Notices when an event loop has stood still: its process was paused, or the machine slept."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._looked_s = self._over_s = 0.0

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Look at the loop's clock from now on."""
        self._loop, self._looked_s, self._over_s = loop, now_ms() / 1_000, 0.0
        self._look()

    def _look(self) -> None:
        assert self._loop is not None
        now_s = now_ms() / 1_000
        if now_s - self._looked_s > _STILL_S:
            self._over_s = now_s + _AFTERWARDS_S
        self._looked_s = now_s
        self._loop.call_later(_LOOK_S, self._look)

    @property
    def was_just_now(self) -> bool:
        """Whether it stood still a moment ago, or does so: a look is late."""
        now_s = now_ms() / 1_000
        return now_s < self._over_s or now_s - self._looked_s > _STILL_S


async def body_of_request(receive: Receive) -> bytes | None:
    """Return the body of a request; None: its caller has gone."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def unless_gone(
    work: Awaitable[_Result], receive: Receive, *, look_first: bool
) -> _Result | None:
    """Return the result of some work; None: the caller has gone, and the work was cancelled.

    Args:
        work: the work.
        receive: of the request, whose body was read.
        look_first: whether to begin only after a look for callers who have gone already. After a
            standstill they are many.
    """
    worker = asyncio.current_task()
    assert worker is not None
    works = True

    def cancel(gone: "asyncio.Future[dict[str, Any]]") -> None:
        if works and not gone.cancelled():
            worker.cancel()

    # The body is read: what comes now is that the caller goes.
    gone = asyncio.ensure_future(receive())
    gone.add_done_callback(cancel)
    try:
        if look_first:
            for _ in range(_PASSES):
                await asyncio.sleep(0)
        return await work
    except asyncio.CancelledError:
        if not gone.done() or gone.cancelled():
            raise
        worker.uncancel()
        return None
    finally:
        works = False
        gone.cancel()
        if asyncio.iscoroutine(work):
            # Its caller went before it began.
            work.close()


async def caller_gone(receive: Receive) -> None:
    """Return when the caller has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
