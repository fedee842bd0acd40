"""One queue as an operator sees it: what it holds, and where the group is in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fairlead.core.model import MessageQueue, Position

__all__ = ["PositionTeller", "QueuePlace"]

PositionTeller = Literal["committed", "progress", "release", "reset"]
"""Who told a position: the group in the data plane, a working or stopped member, an operator."""


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """What one queue holds, and where the group is in it.

    Attributes:
        queue: the queue.
        identity: the identity of its topic; everything here belongs to it.
        earliest: the first offset that the queue keeps.
        latest: the offset of the next message.
        position: where a new owner would start; None: nobody has told one.
        told_by: who told the position.
        for_times: time -> the first offset whose message is not older, −1: there is none.
        committed: what the group has committed under this identity; None: nothing.
    """

    queue: MessageQueue
    identity: str
    earliest: int
    latest: int
    position: Position | None = None
    told_by: PositionTeller | None = None
    for_times: Mapping[int, int] = field(default_factory=dict)
    committed: Position | None = None

    @property
    def lag(self) -> int | None:
        """How many kept messages follow the position; None: the position is unknown."""
        if self.position is None:
            return None
        return self.latest - min(max(self.position.offset, self.earliest), self.latest)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "queue": [*self.queue],
            "position": None if self.position is None else [*self.position],
            "why": self.told_by,
            "earliest": self.earliest,
            "end": self.latest,
            "end_is_older": False,
            "lag_messages": self.lag,
            "identity": self.identity,
        }
