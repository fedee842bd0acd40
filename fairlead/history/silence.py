"""That the owner of a queue has fallen silent, and when the queue is taken from it."""

from dataclasses import dataclass
from typing import Any

from fairlead.durations import duration_words
from fairlead.history.formatting import at_words, clock_words
from fairlead.history.last_heard import LastHeard, Patience

__all__ = ["Silence", "silence_of"]


@dataclass(frozen=True, slots=True)
class Silence:
    """A client that has not heartbeat for longer than its lease.

    ``heard``: its last heartbeat. ``silent_ms``: how long ago that was appended. ``taken_ms``: so
    long after it an engine takes its queues.
    """

    heard: LastHeard
    silent_ms: int
    taken_ms: int

    def words(self) -> str:
        """Return it as a line."""
        said = f"{clock_words(self.heard.append_ms)} ({at_words(*self.heard.place)})"
        return (
            f"for {duration_words(self.silent_ms)}: its last heartbeat was appended at {said}; "
            f"an engine takes its queues {duration_words(self.taken_ms)} after that (lease and "
            "margin)"
        )

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "heard_ms": self.heard.append_ms,
            "heard_at": at_words(*self.heard.place),
            "silent_ms": self.silent_ms,
            "taken_after_ms": self.taken_ms,
        }


def silence_of(heard: LastHeard | None, patience: Patience, now_ms: int) -> Silence | None:
    """Return how silent a client is; None: its lease runs, or it was not heard at all.

    Args:
        heard: its last heartbeat.
        patience: lease and margin of its group.
        now_ms: up to when it is silent.
    """
    if heard is None:
        return None
    lease_ms = max(heard.lease_ms, patience.lease_ms)
    silent_ms = now_ms - heard.append_ms
    if silent_ms <= lease_ms:
        return None
    return Silence(heard, silent_ms, lease_ms + patience.margin_ms)
