"""The client's clock: it never goes back, and it counts the time of a suspended machine."""

import time

_BOOTTIME = getattr(time, "CLOCK_BOOTTIME", None)


def now_ms() -> int:
    """Return milliseconds since some moment.

    On Linux `time.monotonic()` stands still while the machine sleeps: a laptop or a migrated guest
    would wake up with a lease that ended long ago. Systems without such a clock (macOS, Windows)
    use the monotonic one.
    """
    if _BOOTTIME is None:  # pragma: no cover - not on Linux
        return time.monotonic_ns() // 1_000_000
    return time.clock_gettime_ns(_BOOTTIME) // 1_000_000


def wall_ms() -> int:
    """Return the time of day in ms since 1970, which other machines understand."""
    return time.time_ns() // 1_000_000
