"""Whether the caller of a request is still there, by the messages of an ASGI server."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

__all__ = ["Receive", "body_of_request", "caller_gone", "unless_gone"]

_Result = TypeVar("_Result")

Receive = Callable[[], Awaitable[dict[str, Any]]]

_PASSES: Final = 8
"""So many passes of the loop bring a request and the end of its connection, if both are there: four
do without TLS, and the others are to spare."""


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


async def unless_gone(work: Awaitable[_Result], receive: Receive) -> _Result | None:
    """Return the result of some work; None: the caller has gone, and the work was cancelled."""
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
        # Where the process stood still, callers have given up what they asked for meanwhile.
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


async def caller_gone(receive: Receive) -> None:
    """Return when the caller has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
