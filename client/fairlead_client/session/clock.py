"""The client's clock: it never goes back, and it counts the time that the machine was suspended."""

import time

_BOOTTIME = getattr(time, "CLOCK_BOOTTIME", None)


def now_ms() -> int:
    """Return milliseconds since some moment.

    On Linux `time.monotonic()` stands still while the machine sleeps: a laptop or a live-migrated
    guest would wake up holding a lease that ended long ago. Where there is no such clock (macOS,
    Windows) the monotonic one is used.
    """
    if _BOOTTIME is None:  # pragma: no cover - not on Linux
        return time.monotonic_ns() // 1_000_000
    return time.clock_gettime_ns(_BOOTTIME) // 1_000_000


def wall_ms() -> int:
    """Return the time of day in milliseconds since 1970, for what other machines read."""
    return time.time_ns() // 1_000_000
