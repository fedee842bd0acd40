"""What is known of one grant: who may work under it, when it was dropped, and what ended it."""

from dataclasses import dataclass
from typing import NamedTuple

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.verify.docket import Evidence
from fairlead.wire.raw import RawRecord

__all__ = ["EarlyWork", "GrantFacts", "Report"]


@dataclass(slots=True)
class GrantFacts:
    """One grant that was issued: who may work on the queue under this epoch.

    Attributes:
        member: whose; None: only a decision tells of it, which names the client alone, and nobody
            of that client was known.
        resolved: what proves that nobody works under it any more.
        resolved_ms: the log clock when that was read.
        dropped_ms: the log clock since when its member is asked to let go.
        dropped: the decision that asked.
        dropped_by: the generation of that decision.
        overtaken: a successor does not wait for it; the queue is unsafe until it is resolved.
    """

    queue: MessageQueue
    epoch: Epoch
    client_id: str
    member: MemberKey | None
    issued: RawRecord
    resolved: Evidence | None = None
    resolved_ms: int | None = None
    dropped_ms: int | None = None
    dropped: RawRecord | None = None
    dropped_by: int = 0
    overtaken: bool = False

    def is_of(self, member: MemberKey) -> bool:
        """Tell whether a record of this member may speak of the grant."""
        return self.member == member if self.member else self.client_id == member.client_id

    def end(self, proof: Evidence, clock_ms: int) -> None:
        """Something proves that nobody works under it."""
        self.resolved, self.resolved_ms = proof, clock_ms

    def drop(self, decision: RawRecord, generation: int, clock_ms: int) -> None:
        """A decision asks its member to let go; what was asked before counts on."""
        if self.dropped_ms is None:
            self.dropped, self.dropped_by, self.dropped_ms = decision, generation, clock_ms

    @property
    def text(self) -> str:
        """The grant in words."""
        queue = "/".join(map(str, self.queue))
        return f"{queue} granted to {self.client_id} under {self.epoch[0]}.{self.epoch[1]}"


class Report(NamedTuple):
    """A position that somebody reported, where, and the log clock when that was read."""

    position: Position
    row: RawRecord
    clock_ms: int = 0


class EarlyWork(NamedTuple):
    """Somebody worked under a newer grant before this one was seen to be resolved."""

    older: GrantFacts
    newer: GrantFacts
    worked: RawRecord
