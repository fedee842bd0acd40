"""The numbers of one group: what a line of a list and the metrics are made of."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from fairlead.core.model import MessageQueue
from fairlead.view.holds import Holds
from fairlead.view.members import Roll
from fairlead.view.summary import GroupSummary
from fairlead.view.surroundings import Surroundings

__all__ = ["GroupFigures", "Shares", "TopicFigures", "shares_of"]


@dataclass(frozen=True, slots=True)
class TopicFigures:
    """One topic of a group.

    Attributes:
        queues: those that its members share.
        unassigned: of these, which nobody holds and nobody is granted.
        lag_messages: over all queues whose lag is known; None: of none is it.
        lag_seconds: the longest of any queue; None: of none is it known.
        lag_at_least: the longest may be more: the end is remembered no longer.
    """

    topic: str
    queues: int
    unassigned: int
    lag_messages: int | None
    lag_seconds: float | None
    lag_at_least: bool

    def document(self) -> dict[str, str | float | bool | None]:
        """Return it as JSON values."""
        return {
            "topic": self.topic,
            "queues": self.queues,
            "unassigned": self.unassigned,
            "lag_messages": self.lag_messages,
            "lag_seconds": self.lag_seconds,
            "lag_at_least": self.lag_at_least,
        }


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """One group in numbers.

    Attributes:
        summary: the line about it.
        topics: in their order.
        draining: queues that are given up and of which nobody is granted the next turn.
        gated: queues whose successor waits for their release.
        generation: of the newest decision; 0: there is none.
        decided_ms: when the newest decision was appended; None: there is none.
        disagree: members have different values of what they are meant to agree on.
    """

    summary: GroupSummary
    topics: tuple[TopicFigures, ...]
    draining: int
    gated: int
    generation: int
    decided_ms: int | None
    disagree: bool


@dataclass(frozen=True, slots=True)
class Shares:
    """Which queues a group shares, and how evenly.

    Attributes:
        queues: of each topic, by its route.
        unassigned: of these, which nobody holds and nobody is granted.
        idle: members that could own a queue and own none.
        skew: most queues of a member less fewest, of those that could own one.
    """

    queues: dict[str, tuple[MessageQueue, ...]]
    unassigned: dict[str, int]
    idle: int
    skew: int


def shares_of(roll: Roll, holds: Holds, around: Surroundings, granted: Iterable[str]) -> Shares:
    """Return how a group's queues are shared among the members that it has now.

    ``granted``: the topics of which it was granted queues. They count where no member was heard,
    for a group that is offline is behind in them.
    """
    shared = (roll.topics or granted) if roll.model == "clustering" else ()
    queues = {topic: around.routes.get(topic, ()) for topic in shared}
    unassigned: Counter[str] = Counter()
    if roll.members:
        for topic, found in queues.items():
            unassigned[topic] = sum(queue not in holds.queues for queue in found)
    owned = [holds.owned.get(member, 0) for member in roll.candidates]
    skew = max(owned) - min(owned) if owned else 0
    return Shares(queues, unassigned, owned.count(0), skew)
