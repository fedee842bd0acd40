"""Ctrl-C for commands that clean up, or that end between two steps."""

import signal
import threading
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stop_once_on_signals() -> None:
    """Let the first SIGINT, SIGTERM or SIGHUP raise KeyboardInterrupt on the main thread.

    Later signals are ignored, so that they do not disturb the clean-up.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    for each in _SIGNALS:
        signal.signal(each, stop)


def stop_on_signals() -> threading.Event:
    """Return an event that SIGTERM and SIGINT set."""
    stop = threading.Event()

    def ask_to_stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask_to_stop)
    return stop
