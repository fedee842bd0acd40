"""What is known of one grant: who may work under it, when it was dropped, and what ended it."""

from dataclasses import dataclass
from typing import NamedTuple

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.verify.verdicts import Evidence, evidence_of
from fairlead.wire.raw import RawRecord

__all__ = ["Contradiction", "EarlyWork", "GrantFacts", "Report"]


class Report(NamedTuple):
    """A position that somebody reported, where, and the log clock when that was read.

    ``identity``: of which life of its topic; None: not told.
    """

    position: Position
    row: RawRecord
    clock_ms: int = 0
    identity: str | None = None


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
        worked: the furthest work that was reported under it.
        released: where its member let go of it.
        never: its member answered that it never started.
        put_aside: its release tells a position that was refused: the engine heard of its progress
            until it was sure of that.
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
    worked: Report | None = None
    released: Report | None = None
    never: RawRecord | None = None
    put_aside: bool = False

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

    def contradiction(self) -> "Contradiction | None":
        """Return what of its own member's words cannot be true together, if anything cannot."""
        if self.worked is None:
            return None
        worked = evidence_of(self.worked.row, f"work up to {self.worked.position.offset}")
        if self.never is not None:
            text = f"{self.text}: answered that it never started, and reported work"
            return Contradiction("S2", text, (worked, evidence_of(self.never, "the answer")))
        if self.released is None or self.worked.position <= self.released.position:
            return None
        text = f"{self.text}: released below what was reported, messages are read again"
        says = f"released at {self.released.position.offset}"
        return Contradiction("S5", text, (worked, evidence_of(self.released.row, says)))

    @property
    def text(self) -> str:
        """The grant in words."""
        queue = "/".join(map(str, self.queue))
        return f"{queue} granted to {self.client_id} under {self.epoch[0]}.{self.epoch[1]}"


class Contradiction(NamedTuple):
    """Words of one member that cannot be true together: the invariant, and the records."""

    number: str
    text: str
    slice: tuple[Evidence, ...]


class EarlyWork(NamedTuple):
    """Somebody worked under a newer grant before this one was seen to be resolved."""

    older: GrantFacts
    newer: GrantFacts
    worked: RawRecord
