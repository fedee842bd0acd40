"""How far a group is behind in one topic: each queue has one slot in three small arrays.

A list of all groups asks every topic at once. Sums and minima of arrays cost little; looking at
each of a hundred thousand queues by itself would take most of a second.
"""

from array import array
from typing import NamedTuple

from fairlead.wire.limits import INT64_MAX

__all__ = ["Behind", "Lag", "TopicLag"]

_NEVER = INT64_MAX


class Lag(NamedTuple):
    """How far a group is behind the end of a queue.

    ``ms``: how long ago the end was where the position is now; 0 if nothing is left; None: unknown.
    It is an estimate: the end counts as growing evenly between two samples. ``at_least``: it may be
    more, because the samples reach back no further.
    """

    messages: int
    ms: int | None
    at_least: bool


class Behind(NamedTuple):
    """How far a group is behind the end of a queue, whatever the time.

    ``since_ms``: when the end was where the position is now; None: unknown, or nothing is left.
    ``earlier``: it was before that.
    """

    messages: int
    since_ms: int | None
    earlier: bool

    def lag(self, as_of_ms: int) -> Lag:
        """Return how far behind that is at a time."""
        if self.messages == 0:
            return Lag(0, 0, at_least=False)
        if self.since_ms is None:
            return Lag(self.messages, None, at_least=False)
        return Lag(self.messages, max(0, as_of_ms - self.since_ms), self.earlier)


class TopicLag:
    """The queues of one topic, each in a slot of its own."""

    __slots__ = ("_earlier", "_free", "_known", "_messages", "_since")

    def __init__(self) -> None:
        """Begin without queues."""
        self._messages = array("q")
        self._since = array("q")
        self._earlier = bytearray()
        self._known = bytearray()
        self._free: list[int] = []

    def new_place(self) -> int:
        """Return a slot for a queue; nothing is known of it yet."""
        if self._free:
            return self._free.pop()
        self._messages.append(0)
        self._since.append(_NEVER)
        self._earlier.append(False)
        self._known.append(False)
        return len(self._known) - 1

    def free(self, place: int) -> None:
        """Forget a queue: its slot becomes free."""
        self.put(place, None)
        self._free.append(place)

    def put(self, place: int, behind: Behind | None) -> None:
        """Set how far behind a queue is; None: unknown."""
        messages, since_ms, earlier = (0, None, False) if behind is None else behind
        self._messages[place] = messages
        self._since[place] = _NEVER if since_ms is None else since_ms
        self._earlier[place] = earlier
        self._known[place] = behind is not None

    def at(self, place: int) -> Behind | None:
        """Return how far behind a queue is."""
        if not self._known[place]:
            return None
        since_ms = self._since[place]
        return Behind(
            self._messages[place],
            None if since_ms == _NEVER else since_ms,
            bool(self._earlier[place]),
        )

    def all(self) -> Behind | None:
        """Return all messages, and since when the furthest queue is behind; None: unknown."""
        if not any(self._known):
            return None
        since_ms = min(self._since)
        if since_ms == _NEVER:
            return Behind(sum(self._messages), None, earlier=False)
        earlier = self._earlier[self._since.index(since_ms)]
        return Behind(sum(self._messages), since_ms, bool(earlier))
