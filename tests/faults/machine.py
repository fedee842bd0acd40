"""How much of its time the host gave this machine: clients that are given none lose their leases.

On a shared host a machine may stand nearly still for seconds. That is a fault of its own, to all
processes at once, and nobody asked for it: what it does to leases is no fault of the engine.
"""

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Final, Self

TAKEN_SHARE_MAX: Final = 0.4
"""Of all cores together, between two looks."""
LOOK_SECONDS: Final = 1.0
_STATISTICS: Final = Path("/proc/stat")
_TAKEN_FIELD: Final = 7


@dataclass(frozen=True, slots=True)
class Look:
    """What the kernel has counted since boot, over all cores, in clock ticks.

    Attributes:
        t_ns: when, CLOCK_MONOTONIC.
        taken: the host gave it to others while something here could have run.
        whole: everything, that included.
    """

    t_ns: int
    taken: int
    whole: int


def absences(looks: Iterable[Look]) -> list[tuple[int, int]]:
    """Return the times from one look to the next in which the host took more than it may.

    A look that came much too late tells the same: nothing ran here meanwhile.
    """
    found = []
    for before, after in pairwise(looks):
        taken, whole = after.taken - before.taken, after.whole - before.whole
        late = after.t_ns - before.t_ns > 2 * LOOK_SECONDS * 1e9
        if late or taken > TAKEN_SHARE_MAX * whole:
            found.append((before.t_ns, after.t_ns))
    return found


class Machine:
    """As a context: looks at the kernel's counts all the time.

    Attributes:
        looks: so far.
    """

    def __init__(self) -> None:
        self.looks: list[Look] = []
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="machine", daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End."""
        self._ends.set()
        self._thread.join()

    def absences(self, since_ns: int) -> Sequence[tuple[int, int]]:
        """Return when it was taken away since then, see `absences`."""
        return [found for found in absences(list(self.looks)) if found[1] > since_ns]

    def _watch(self) -> None:
        while not self._ends.wait(LOOK_SECONDS):
            counts = [int(field) for field in _STATISTICS.read_text().split("\n", 1)[0].split()[1:]]
            # The last two, of guests, are part of the first two.
            self.looks.append(Look(time.monotonic_ns(), counts[_TAKEN_FIELD], sum(counts[:8])))
