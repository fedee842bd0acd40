"""How much memory a run needs: everything it started, looked at on a thread while it runs."""

import os
import threading
from dataclasses import dataclass
from math import ceil
from typing import Final, Self

from fairlead_proof.local.processes import family_memory

_MEBIBYTE: Final = 2**20
_LOOK_SECONDS: Final = 1.0
_LOOK_SECONDS_MAX: Final = 0.2
"""A look costs the run processor time: it is broken off after so long."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """The memory of all processes of a run together at its greatest, as the kernel counts it.

    Attributes:
        bytes: the greatest sum; a page that several processes share is divided among them.
        processes: so many had it.
        looks: it is the greatest of so many looks.
        broken_off: so many of these took too long and were broken off: their sums are too small.
    """

    bytes: int = 0
    processes: int = 0
    looks: int = 0
    broken_off: int = 0

    @property
    def mib(self) -> int:
        """The greatest sum in MiB, rounded up."""
        return ceil(self.bytes / _MEBIBYTE)

    def with_look(self, memory_bytes: int, processes: int, *, complete: bool) -> Self:
        """Return what is known after one more look."""
        greatest = max((self.bytes, self.processes), (memory_bytes, processes))
        return type(self)(*greatest, self.looks + 1, self.broken_off + (not complete))


class MemoryWatch:
    """Watches this process and its descendants; as a context it looks until the end of it.

    Attributes:
        use: what was seen so far; None if the kernel does not tell, or if no look came to its end.
    """

    def __init__(self, pid: int | None = None, look_seconds: float = _LOOK_SECONDS) -> None:
        """Describe the watch.

        Args:
            pid: another process to watch with its descendants.
            look_seconds: the pause between two looks.
        """
        self.use: MemoryUse | None = None
        self._pid = os.getpid() if pid is None else pid
        self._look_seconds = look_seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memory-watch", daemon=True)

    def __enter__(self) -> Self:
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        use = MemoryUse()
        while True:
            try:
                family = family_memory(self._pid, _LOOK_SECONDS_MAX)
            except ProcessLookupError:
                return
            except OSError:
                # Part of the processes is hidden from us: a sum without them would be a lie.
                self.use = None
                return
            use = use.with_look(family.bytes, family.processes, complete=family.complete)
            if use.looks > use.broken_off:
                self.use = use
            if self._ended.wait(self._look_seconds):
                return
