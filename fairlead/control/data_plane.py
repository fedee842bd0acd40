"""What commands ask of the cluster with the messages, whichever kind it is (ADR 0241)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fairlead.core.model import MessageQueue, Position, Route
from fairlead.errors import EnvironmentMissingError

__all__ = ["DataPlane", "QueueLook"]


@dataclass(frozen=True, slots=True)
class QueueLook:
    """What a queue holds, and where a group is in it.

    Attributes:
        earliest: the first offset that the queue keeps.
        latest: the offset of the next message.
        committed: what the group has committed under the route's identity; None: nothing.
        for_times: time -> the first offset whose message is not older, −1: there is none.
    """

    earliest: int
    latest: int
    committed: Position | None
    for_times: Mapping[int, int] = field(default_factory=dict)


class DataPlane(Protocol):
    """One cluster with messages."""

    def groups(self) -> list[str] | None:
        """Return the names of the cluster's own groups; None if that failed."""

    def committed_topics(self, group: str) -> Iterable[str] | None:
        """Return the topics in which a group has committed anything; None if that failed."""

    def look(
        self, group: str, route: Route, queues: Sequence[MessageQueue], times: Sequence[int]
    ) -> Mapping[MessageQueue, QueueLook]:
        """Return what these queues of one route hold, and where the group is in them.

        Raises:
            EnvironmentMissingError: the cluster does not say it of each queue, or it has another
                topic of that name.
        """

    def unanswered(self, says: str) -> EnvironmentMissingError:
        """Return the error of a question that the cluster did not answer."""
