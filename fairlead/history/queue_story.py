"""The story of one queue: who has it, since when, from where, why, and who had it before."""

from dataclasses import dataclass
from typing import Any

from fairlead.core.model import MessageQueue
from fairlead.history.history_model import CurrentOwner, ExplainedCause, ExplainedGrant
from fairlead.history.ownerless import LostQueue, SilentOwner, why_nobody
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["QueueStory"]


@dataclass(frozen=True, slots=True)
class QueueStory:
    """Everything to tell of one queue.

    Attributes:
        group: the group.
        queue: the queue.
        holder: who has it.
        grants: the owners to tell of, the newest first.
        earlier: how many earlier owners are known from what was read.
        reaches_back: the log has nothing older of this queue than what was read.
        newest: the newest decision of the group; None: the log has none.
        as_of_ms: the time of the story.
        orders_at: topic and partition of the operators' orders to the group.
        loss: how it was lost, if somebody had it and nobody has.
        silence: the last heartbeat of its owner, if the owner has fallen silent.
    """

    group: str
    queue: MessageQueue
    holder: CurrentOwner
    grants: tuple[ExplainedGrant, ...]
    earlier: int
    reaches_back: bool
    newest: DecisionRecord | None
    as_of_ms: int
    orders_at: tuple[str, int]
    loss: LostQueue | None = None
    silence: SilentOwner | None = None

    @property
    def why_nobody(self) -> str | None:
        """Why nobody has it; None: somebody has."""
        return why_nobody(self.queue, self.newest) if self.holder.state == "unassigned" else None

    @property
    def since_ms(self) -> int | None:
        """Since when its owner, or nobody, has it; None: unknown."""
        if self.holder.owner is not None or self.loss is None:
            return self.holder.since_ms
        return self.loss.since_ms

    @property
    def disagreements(self) -> list[ExplainedCause]:
        """The causes whose records do not agree with them."""
        causes = [cause for owner in self.grants for cause in owner.causes]
        if self.loss is not None and self.loss.decision is not None:
            causes += self.loss.decision.causes
        return [cause for cause in causes if cause.check.status == "disagrees"]

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        holder = self.holder
        newest = self.grants[0].grant if self.grants else None
        here = newest if newest is not None and newest.epoch == holder.epoch else None
        position = None if here is None else here.position
        return {
            "group": self.group,
            "queue": [*self.queue],
            "owner": holder.owner,
            "state": holder.state,
            "successor": holder.successor,
            "waits_for": [*holder.waits_for],
            "nobody_because": self.why_nobody,
            "epoch": None if holder.epoch is None else [*holder.epoch],
            "owner_since_ms": self.since_ms,
            "position": None if position is None else [*position],
            "why": None if here is None else here.why,
            "as_of_ms": self.as_of_ms,
            "silence": None if self.silence is None else self.silence.to_json(),
            "loss": None if self.loss is None else self.loss.to_json(),
            "owners": [each.to_json() for each in self.grants],
            "owners_earlier": self.earlier,
        }
