"""Which clients are started again and again, by their heartbeats.

Decides when somebody should look. Two processes that share a client id never run side by side if a
supervisor restarts each of them whenever it has to stop. The heartbeats only show one process
after another. A process that fails as it starts looks the same.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from fairlead.core.model import Process

__all__ = ["PROCESSES_MAX", "RESTARTS_OVER_MS", "Beat", "restarting"]

RESTARTS_OVER_MS: Final = 300_000
"""Count the processes that were heard within this time."""
PROCESSES_MAX: Final = 3
"""This many are not too many: a rollout and its rollback."""


class Beat(NamedTuple):
    """The newest heartbeat of one incarnation: its client, its process, and its append time."""

    client_id: str
    process: Process
    heard_ms: int


def restarting(beats: Iterable[Beat], now_ms: int) -> dict[str, int]:
    """Return the clients with too many recent processes, and how many they had."""
    since_ms = now_ms - RESTARTS_OVER_MS
    recent = {(each.client_id, each.process) for each in beats if each.heard_ms >= since_ms}
    processes = Counter(client_id for client_id, _ in recent)
    return {
        client_id: number
        for client_id, number in sorted(processes.items())
        if number > PROCESSES_MAX
    }
