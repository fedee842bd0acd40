"""Leaves at a signal: the first signal makes the client leave, the second kills the process."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, Final

from fairlead_client.errors import LifecycleError

__all__ = ["SIGNALS", "leaving_on_signals"]

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def leaving_on_signals(leave: Callable[[], None]) -> Iterator[None]:
    """Call `leave` at the first SIGINT or SIGTERM; a second one kills the process.

    At the end of the block the former handlers are back. In a forked child a signal acts as without
    a handler.

    Raises:
        LifecycleError: this is not the main thread; Python delivers signals only there.
    """
    if current_thread() is not main_thread():
        raise LifecycleError("only the main thread gets signals; call stop() from your own handler")
    process = os.getpid()
    before: dict[signal.Signals, Any] = {}

    def handle(number: int, _frame: FrameType | None) -> None:
        for kind in SIGNALS:
            # The kernel's own handler: a second signal kills even a stuck application.
            signal.signal(kind, signal.SIG_DFL)
        if os.getpid() == process:
            leave()
        else:
            os.kill(os.getpid(), number)

    for kind in SIGNALS:
        before[kind] = signal.signal(kind, handle)
    try:
        yield
    finally:
        for kind, handler in before.items():
            # None: the handler was not set by Python, so Python cannot restore it.
            signal.signal(kind, signal.SIG_DFL if handler is None else handler)
