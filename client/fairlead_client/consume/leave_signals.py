"""Signals that make a client leave: the first one in order, the second one ends the process."""

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
    """Call this at the first SIGINT or SIGTERM; from then on either of them kills the process.

    At the end of the block the handlers of before are back. A forked child is no part of this: a
    signal does to it what it does to a process without handlers.

    Raises:
        LifecycleError: it is not the main thread, which alone gets signals.
    """
    if current_thread() is not main_thread():
        raise LifecycleError(
            "only the main thread is told of signals; call stop() from a handler of your own"
        )
    process = os.getpid()
    before: dict[signal.Signals, Any] = {}

    def handle(number: int, _frame: FrameType | None) -> None:
        for each in SIGNALS:
            # By the kernel: whatever the application is stuck in, the second one ends it.
            signal.signal(each, signal.SIG_DFL)
        if os.getpid() == process:
            leave()
        else:
            os.kill(os.getpid(), number)

    for each in SIGNALS:
        before[each] = signal.signal(each, handle)
    try:
        yield
    finally:
        for each, handler in before.items():
            # None: it was set by something else than Python, and cannot be set again.
            signal.signal(each, signal.SIG_DFL if handler is None else handler)
