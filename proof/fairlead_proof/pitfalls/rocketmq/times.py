"""RocketMQ's times, in milliseconds, and those that differ between its lines."""

from dataclasses import dataclass

__all__ = ["RELEASE_4_9", "RELEASE_5_3", "Times"]


@dataclass(frozen=True, slots=True)
class Times:
    """When clients and brokers do what they do by themselves.

    ``tick_ms``: a client shares anew at least this often (RebalanceService). ``gap_ms``: it waits
    so long after one run before the next, also after its start. ``retry_ms``: after a run that did
    not reach its end; None: at the next tick. ``lock_retry_ms``: after a lock that was refused;
    None: at the next tick. ``first_pull_ms``: from taking a queue to its first pull.
    ``flush_ms``: how often offsets are sent, first after ``first_flush_ms`` (ClientConfig).
    ``heartbeat_ms``: to every broker. ``poll_ms``: how often the route is fetched.
    ``expiry_ms``: a connection without a heartbeat for longer is forgotten by the scan every
    ``scan_ms`` (ClientHousekeepingService). ``lock_ms``: a queue lock that was not renewed for
    longer is free (RebalanceLockManager); ``renewal_ms``: how often a client renews its locks.
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
