"""Looks at native groups again and again, each cluster on a thread of its own."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from fairlead.errors import FairleadError
from fairlead.native.native_sources import NativeSource
from fairlead.native.native_view import NativeView

__all__ = ["NativePoller"]

_NS_PER_MS: Final = 1_000_000
_PATIENCE_S: Final = 2.0

log = structlog.get_logger(__name__)


class NativePoller:
    """Looks until it is stopped.

    Args:
        view: gets the looks.
        sources: the clusters.
        wanted: tells whether a group is looked at.
        interval_ms: the time between two looks at a cluster.
    """

    def __init__(
        self,
        view: NativeView,
        sources: Sequence[NativeSource],
        wanted: Callable[[str], bool],
        interval_ms: int,
    ) -> None:
        self._view, self._wanted, self._interval_s = view, wanted, interval_ms / 1_000
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(
                target=self._run, args=(each,), name=f"native {each.kind}", daemon=True
            )
            for each in sources
        ]

    def start(self) -> None:
        """Begin to look."""
        for each in self._threads:
            each.start()

    def stop(self) -> None:
        """Stop; wait a little for the looks under way.

        They write nothing, so one at a cluster that does not answer holds up nobody's shutdown.
        """
        self._stop.set()
        for each in self._threads:
            each.join(_PATIENCE_S)

    def _run(self, source: NativeSource) -> None:
        while not self._stop.is_set():
            try:
                self._look_on(source)
            except FairleadError as error:
                self._failed(source, error.message)
            except Exception as error:  # noqa: BLE001 - the next look may go well; nobody waits for it
                self._failed(source, f"{type(error).__name__}: {error}")
            self._stop.wait(self._interval_s)

    def _look_on(self, source: NativeSource) -> None:
        """Look on one set of connections until a look fails."""
        with source.reading() as reader:
            while not self._stop.is_set():
                look = reader.look(self._wanted)
                self._view.took(source.kind, look, time.time_ns() // _NS_PER_MS)
                self._stop.wait(self._interval_s)

    def _failed(self, source: NativeSource, why: str) -> None:
        if self._view.failed(source.kind, why):
            log.warning("native_groups_not_seen", native=source.kind, error=why)
