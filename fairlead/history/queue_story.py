"""The story of one queue: who has it, since when, from where, why, and who had it before."""

from dataclasses import dataclass
from typing import Any

from fairlead.core.model import MessageQueue
from fairlead.history.history_model import CauseTold, Holder, TenureTold
from fairlead.history.ownerless import Loss, Silence, why_nobody
from fairlead.wire.decision_records import DecisionRecord

__all__ = ["QueueStory"]


@dataclass(frozen=True, slots=True)
class QueueStory:
    """What there is to be told of one queue.

    Attributes:
        group: the group.
        queue: the queue.
        holder: who has it.
        tenures: the owners that are told of, the newest first.
        earlier: how many more are known from what was read.
        reaches_back: the log holds nothing older of this queue than what was read.
        newest: the newest decision of the group; None: none is in the log.
        as_of_ms: when that was so.
        orders_at: topic and partition of the operators' orders to the group.
        loss: how it was lost, if nobody has it and somebody had.
        silence: the last heartbeat of its owner, if that has fallen silent.
    """

    group: str
    queue: MessageQueue
    holder: Holder
    tenures: tuple[TenureTold, ...]
    earlier: int
    reaches_back: bool
    newest: DecisionRecord | None
    as_of_ms: int
    orders_at: tuple[str, int]
    loss: Loss | None = None
    silence: Silence | None = None

    @property
    def why_nobody(self) -> str | None:
        """Why nobody has it; None: somebody has."""
        return why_nobody(self.queue, self.newest) if self.holder.state == "unassigned" else None

    @property
    def since_ms(self) -> int | None:
        """Since when its owner has it, or nobody; None: not known."""
        if self.holder.owner is not None or self.loss is None:
            return self.holder.since_ms
        return self.loss.since_ms

    @property
    def disagreements(self) -> list[CauseTold]:
        """The causes whose records are not what they say."""
        causes = [cause for told in self.tenures for cause in told.causes]
        if self.loss is not None and self.loss.decision is not None:
            causes += self.loss.decision.causes
        return [cause for cause in causes if cause.check.status == "disagrees"]

    def document(self) -> dict[str, Any]:
        """Return the story as JSON values."""
        holder = self.holder
        newest = self.tenures[0].tenure if self.tenures else None
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
            "silence": None if self.silence is None else self.silence.document(),
            "loss": None if self.loss is None else self.loss.document(),
            "owners": [each.document() for each in self.tenures],
            "owners_earlier": self.earlier,
        }
