"""Makes a broker slow: it stands still most of the time, in slices."""

import threading
from types import TracebackType
from typing import Final, Self

from fairlead.broker import EmbeddedKafka

STILL_SECONDS: Final = 0.9
"""Longer than what counts as slow (550 ms), shorter than what counts as gone (1,000 ms)."""
GOING_SECONDS: Final = 0.15


class SlowBroker:
    """A broker that answers late while the context lasts."""

    def __init__(self, cluster: EmbeddedKafka, node: int) -> None:
        self._cluster = cluster
        self._node = node
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="slow-broker", daemon=True)

    def __enter__(self) -> Self:
        """Begin to halt it."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let it go on for good."""
        self._ending.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ending.is_set():
            self._cluster.pause(self._node)
            try:
                self._ending.wait(STILL_SECONDS)
            finally:
                self._cluster.resume(self._node)
            self._ending.wait(GOING_SECONDS)
