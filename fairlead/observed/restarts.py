"""Which clients are started again and again, as their heartbeats tell.

Decides when that is worth a person's look. Two processes that share a client id, each started again
when it was told to stop, are never seen side by side: what can be seen of them is that the client
has one process after another. So has one that fails as it starts.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from fairlead.core.model import Process

__all__ = ["PROCESSES_MAX", "RESTARTS_OVER_MS", "Beat", "restarting"]

RESTARTS_OVER_MS: Final = 300_000
"""Processes that were heard in so long a time are counted."""
PROCESSES_MAX: Final = 3
"""As many are none too many: one that was rolled out, and rolled back."""


class Beat(NamedTuple):
    """The newest heartbeat of one life of a client: whose, of which process, and when appended."""

    client_id: str
    process: Process
    heard_ms: int


def restarting(beats: Iterable[Beat], now_ms: int) -> dict[str, int]:
    """Return the client ids that have had too many processes of late, and how many these are."""
    since_ms = now_ms - RESTARTS_OVER_MS
    recent = {(each.client_id, each.process) for each in beats if each.heard_ms >= since_ms}
    processes = Counter(client_id for client_id, _ in recent)
    return {
        client_id: number
        for client_id, number in sorted(processes.items())
        if number > PROCESSES_MAX
    }
