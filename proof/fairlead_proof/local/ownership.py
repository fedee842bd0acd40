"""What the decisions of one group add up to: who was granted what, and what was dropped."""

from dataclasses import dataclass, field

from fairlead.core.model import Epoch, MessageQueue
from fairlead.wire.decision_records import DecisionRecord, MoveRecord

__all__ = ["Ownership"]


@dataclass(slots=True)
class Ownership:
    """What the decisions of one group add up to.

    Attributes:
        newest: the last decision taken in.
        granted: per queue, the client and epoch of its newest grant.
        dropped: grants that were dropped and have no successor yet.
        decisions: how many were taken in.
        moves: how many grants went to a client that did not have the queue before.
    """

    newest: DecisionRecord | None = None
    granted: dict[MessageQueue, tuple[str, Epoch]] = field(default_factory=dict)
    dropped: set[tuple[MessageQueue, Epoch]] = field(default_factory=set)
    decisions: int = 0
    moves: int = 0

    def apply(self, decision: DecisionRecord) -> None:
        """Add one decision, in the order of the topic; a superseded engine's changes nothing."""
        if decision.superseded:
            return
        self.newest = decision
        self.decisions += 1
        for move in decision.moves:
            if move.stage == "dropped":
                self.dropped.add((move.queue, move.epoch))
            elif move.stage in ("gated", "granted"):
                self._grant(move)

    def _grant(self, move: MoveRecord) -> None:
        before = self.granted.get(move.queue)
        if before is not None:
            self.dropped.discard((move.queue, before[1]))
        self.moves += before is None or before[0] != move.client_id
        self.granted[move.queue] = (move.client_id, move.epoch)

    def is_settled_among(self, members: frozenset[str], queues: int) -> bool:
        """Tell whether the group is stable with exactly these members and so many queues."""
        newest = self.newest
        return (
            newest is not None
            and newest.phase == "stable"
            and newest.is_settled
            and frozenset(newest.members) == members
            and len(self.granted) == queues
            and all(client_id in members for client_id, _ in self.granted.values())
        )
