"""RocketMQ's times, in milliseconds, and the differences between its versions."""

from dataclasses import dataclass

__all__ = ["RELEASE_4_9", "RELEASE_5_3", "Times"]


@dataclass(frozen=True, slots=True)
class Times:
    """The periods and waits of clients and brokers.

    Attributes:
        gap_ms: how long a client waits between two rebalances, and after its start.
        retry_ms: until the next try after an incomplete rebalance; None: at the next tick.
        lock_retry_ms: until the next try after a refused lock; None: at the next tick.
        first_pull_ms: from taking a queue to its first pull.
        tick_ms: a client rebalances at least this often (RebalanceService).
        flush_ms: how often a client sends its offsets (ClientConfig).
        first_flush_ms: when it sends them first.
        heartbeat_ms: how often a client sends a heartbeat to every broker.
        poll_ms: how often a client fetches the route.
        expiry_ms: the scan forgets a connection without a heartbeat for longer.
        scan_ms: how often a broker scans its connections (ClientHousekeepingService).
        lock_ms: a queue lock without renewal for longer is free (RebalanceLockManager).
        renewal_ms: how often a client renews its locks.
    """

    gap_ms: int
    retry_ms: int | None
    lock_retry_ms: int | None
    first_pull_ms: int
    tick_ms: int = 20_000
    flush_ms: int = 5_000
    first_flush_ms: int = 10_000
    heartbeat_ms: int = 30_000
    poll_ms: int = 30_000
    expiry_ms: int = 120_000
    scan_ms: int = 10_000
    lock_ms: int = 60_000
    renewal_ms: int = 20_000


RELEASE_4_9 = Times(gap_ms=0, retry_ms=None, lock_retry_ms=None, first_pull_ms=0)
"""A client acts at once on a notification, and tries again at the next tick."""

RELEASE_5_3 = Times(gap_ms=1_000, retry_ms=1_000, lock_retry_ms=500, first_pull_ms=500)
"""A client waits a second between two runs, and pulls half a second after it took a queue."""
