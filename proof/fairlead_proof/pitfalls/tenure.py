"""One process at work on one queue, and the messages that it has read.

Every queue gets ten messages a second. A reader begins at most a hundred a second, and works on
each for a fifth of a second: so it has about two in hand at any time.
"""

from dataclasses import dataclass

from fairlead.core.model import MessageQueue

__all__ = ["MESSAGE_EVERY_MS", "WORK_MS", "Tenure", "end_of"]

MESSAGE_EVERY_MS = 100
"""A queue gets a message this often."""

READ_EVERY_MS = 10
"""A reader that lags behind begins the next message after this time."""

WORK_MS = 200
"""How long a reader works on a message."""


def end_of(at_ms: int) -> int:
    """Return the offset of the next message of any queue at this time."""
    return at_ms // MESSAGE_EVERY_MS


@dataclass(slots=True)
class Tenure:
    """The time from which a process owns a queue, by its own view, until it stops.

    It begins at ``offset`` at ``reads_from_ms``. From ``stop_ms`` on it begins no further message;
    from ``end_ms`` on it does not work on the queue at all.
    """

    queue: MessageQueue
    process: str
    begin_ms: int
    offset: int
    reads_from_ms: int
    stop_ms: int | None = None
    end_ms: int | None = None

    def begun(self, at_ms: int) -> int:
        """Return the offset after the last message that it had begun by this time."""
        until_ms = at_ms if self.stop_ms is None else min(at_ms, self.stop_ms)
        worked_ms = max(0, until_ms - self.reads_from_ms)
        reached = self.offset + worked_ms // READ_EVERY_MS
        return max(self.offset, min(end_of(until_ms), reached))

    def processed(self, at_ms: int) -> int:
        """Return the lowest unprocessed offset at this time."""
        return max(self.offset, self.begun(at_ms - WORK_MS))
