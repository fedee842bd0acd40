"""How much of its time the host gave this machine: clients that are given none lose their leases.

On a shared host a machine may stand nearly still for seconds. That is a fault of its own, to all
processes at once, and nobody asked for it: what it does to leases is no fault of the engine.
"""

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from tests.faults.trial import FaultLog, Lapse, Trial
from tests.faults.troop import TroopPlan
from tests.kit.awaiting import ended

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


def absences(looks: Iterable[Look], since_ns: int = 0) -> list[tuple[int, int]]:
    """Return the times from one look to the next in which the host took more than it may.

    A look that came much too late tells the same: nothing ran here meanwhile. What was over before
    ``since_ns`` is left out.
    """
    found = []
    for before, after in pairwise(looks):
        taken, whole = after.taken - before.taken, after.whole - before.whole
        late = after.t_ns - before.t_ns > 2 * LOOK_SECONDS * 1e9
        if after.t_ns > since_ns and (late or taken > TAKEN_SHARE_MAX * whole):
            found.append((before.t_ns, after.t_ns))
    return found


@contextlib.contextmanager
def watched() -> Iterator[list[Look]]:
    """In the context the kernel's counts are looked at once a second; the list grows by each."""
    looks: list[Look] = []
    ends = threading.Event()

    def watch() -> None:
        while not ends.wait(LOOK_SECONDS):
            counts = [int(field) for field in _STATISTICS.read_text().split("\n", 1)[0].split()[1:]]
            # The last two, of guests, are part of the first two.
            looks.append(Look(time.monotonic_ns(), counts[_TAKEN_FIELD], sum(counts[:8])))

    thread = threading.Thread(target=watch, name="machine", daemon=True)
    thread.start()
    try:
        yield looks
    finally:
        ends.set()
        ended(thread)


def excuse(
    trial: Trial,
    log: FaultLog,
    plan: TroopPlan,
    client_ids: Iterable[str],
    away: Sequence[tuple[int, int]],
) -> None:
    """Take in what the host did to a group: its clients may have lost leases by it, and queues.

    A group is left out whose leases are too long for that: heartbeats are sent three times in each.
    """
    seconds = sum(until_ns - since_ns for since_ns, until_ns in away) / 1e9
    if seconds * 3 < plan.lease_s:
        return
    lapsed = sorted(client_ids)
    trial.may_expire.setdefault(plan.group, set()).update(lapsed)
    for since_ns, until_ns in away:
        ended_ns = until_ns + round(plan.lease_s * 1e9)
        log.lapses += [Lapse(client_id, since_ns, ended_ns) for client_id in lapsed]
    trial.phases = [
        replace(phase, owners=None, starts_max=None) if phase.group == plan.group else phase
        for phase in trial.phases
    ]
