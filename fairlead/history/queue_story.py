"""The story of one queue: who has it, since when, from where, why, and who had it before."""

from dataclasses import dataclass
from typing import Any

from fairlead.core.model import MessageQueue
from fairlead.history.history_model import ExplainedCause, ExplainedGrant
from fairlead.history.ownerless import LostQueue, SilentOwner
from fairlead.observed.queue_standing import QueueStanding
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["QueueStory"]


@dataclass(frozen=True, slots=True)
class QueueStory:
    """Everything to tell of one queue.

    Attributes:
        group: the group.
        stand: how the queue stands now, as `group describe` has it (ADR 0193).
        nobody_because: why it has no owner; None: it has one.
        grants: the owners to tell of, the newest first.
        earlier: how many earlier owners are known from what was read.
        newest: the newest decision of the group; None: the log has none.
        as_of_ms: the time of the story.
        orders_at: topic and partition of the operators' orders to the group.
        loss: how it was lost, if somebody had it and it has no owner.
        silence: the last heartbeat of its owner, if the owner has fallen silent.
    """

    group: str
    stand: QueueStanding
    nobody_because: str | None
    grants: tuple[ExplainedGrant, ...]
    earlier: int
    newest: DecisionRecord | None
    as_of_ms: int
    orders_at: tuple[str, int]
    loss: LostQueue | None = None
    silence: SilentOwner | None = None

    @property
    def queue(self) -> MessageQueue:
        """The queue."""
        return self.stand.queue

    @property
    def tenure(self) -> ExplainedGrant | None:
        """The grant by which its owner has it; None: it has none, or no decision tells it."""
        hold = self.stand.hold
        if hold is None or hold.owner is None:
            return None
        return next((each for each in self.grants if each.grant.epoch == hold.epoch), None)

    @property
    def disagreements(self) -> list[ExplainedCause]:
        """The causes whose records do not agree with them."""
        causes = [cause for owner in self.grants for cause in owner.causes]
        if self.loss is not None and self.loss.decision is not None:
            causes += self.loss.decision.causes
        return [cause for cause in causes if cause.check.status == "disagrees"]

    def to_json(self) -> dict[str, Any]:
        """Return JSON values: those of the queue as `group describe` has them, and its past."""
        return {
            "group": self.group,
            **self.stand.to_json(),
            "nobody_because": self.nobody_because,
            "now_ms": self.as_of_ms,
            "silence": None if self.silence is None else self.silence.to_json(),
            "loss": None if self.loss is None else self.loss.to_json(),
            "owners": [each.to_json() for each in self.grants],
            "owners_earlier": self.earlier,
        }
