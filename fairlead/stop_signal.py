"""A request to stop: a signal handler or any thread makes it, the main thread waits for it.

``threading.Event`` would deadlock when a signal handler sets it while the same thread is about to
wait. A byte in a pipe needs no lock.
"""

import os
import select
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Self


class StopSignal:
    """The request; once set it stays set. Use it as a context, which closes its pipe."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._set = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        os.close(self._writer)
        os.close(self._reader)

    @property
    def is_set(self) -> bool:
        """Whether a stop was requested."""
        return self._set

    def set(self) -> None:
        """Request the stop; any thread or signal handler may call it, also repeatedly."""
        if not self._set:
            self._set = True
            os.write(self._writer, b"s")

    def wait(self, seconds: float) -> bool:
        """Wait for the request for at most this many seconds; return whether it was made."""
        readable, _, _ = select.select([self._reader], [], [], seconds)
        return bool(readable)


@contextmanager
def on_signals(
    numbers: Sequence[signal.Signals], handler: Callable[[signal.Signals], None]
) -> Iterator[None]:
    """Call a function at these signals while the context is open; main thread only."""

    def call(number: int, _frame: FrameType | None) -> None:
        handler(signal.Signals(number))

    before = {number: signal.signal(number, call) for number in numbers}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)
