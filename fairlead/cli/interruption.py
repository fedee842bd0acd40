"""Ctrl-C for commands that have to clean up: once, and then not again while they do."""

import signal
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stop_once_on_signals() -> None:
    """Let SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt on the main thread, the first of them.

    Further ones are ignored, so that they do not disturb the clean-up.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    for each in _SIGNALS:
        signal.signal(each, stop)
