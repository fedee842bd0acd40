"""The facts of one grant: who may work under it, when it was dropped, and what ended it."""

from dataclasses import dataclass
from typing import NamedTuple

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.verify.verdicts import Evidence, evidence_of
from fairlead.wire.raw import RawRecord

__all__ = ["Contradiction", "EarlyWork", "GrantFacts", "PositionReport"]


class PositionReport(NamedTuple):
    """A reported position, its record, and the log clock when that record was read.

    ``identity`` is that of the topic; None if the record names none.
    """

    position: Position
    row: RawRecord
    clock_ms: int = 0
    identity: str | None = None


@dataclass(slots=True)
class GrantFacts:
    """One issued grant: who may work on the queue under this epoch.

    Attributes:
        member: whose grant it is; None: only a decision names it, by a client id without a
            known member.
        resolved: the proof that nobody works under it any more.
        resolved_ms: the log clock when that proof was read.
        dropped_ms: the log clock since which its member must let go.
        dropped: the decision that dropped it.
        dropped_by: the generation of that decision.
        overtaken: a successor does not wait for it; the queue is unsafe until it is resolved.
        worked: the furthest work that its member reported.
        released: where its member let go of it.
        never: the record in which its member answers that it never started.
        put_aside: the engine refused the position in its release, and went on believing its
            progress until it was sure of that.
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
    worked: PositionReport | None = None
    released: PositionReport | None = None
    never: RawRecord | None = None
    put_aside: bool = False

    def is_of(self, member: MemberKey) -> bool:
        """Tell whether the grant may be this member's."""
        return self.member == member if self.member else self.client_id == member.client_id

    def resolve(self, proof: Evidence, clock_ms: int) -> None:
        """Record the proof that nobody works under it any more."""
        self.resolved, self.resolved_ms = proof, clock_ms

    def drop(self, decision: RawRecord, generation: int, clock_ms: int) -> None:
        """Record the decision that drops it; an earlier drop counts on."""
        if self.dropped_ms is None:
            self.dropped, self.dropped_by, self.dropped_ms = decision, generation, clock_ms

    def contradiction(self) -> "Contradiction | None":
        """Return the contradiction between the reports of its member; None: there is none."""
        if self.worked is None:
            return None
        worked = evidence_of(self.worked.row, f"work up to {self.worked.position.offset}")
        if self.never is not None:
            text = f"{self.text}: it answered that it never started, and it reported work"
            return Contradiction("S2", text, (worked, evidence_of(self.never, "the answer")))
        if self.released is None or self.worked.position <= self.released.position:
            return None
        text = f"{self.text}: it released below its own progress, so messages are read again"
        says = f"released at {self.released.position.offset}"
        return Contradiction("S5", text, (worked, evidence_of(self.released.row, says)))

    @property
    def text(self) -> str:
        """The grant in words."""
        queue = "/".join(map(str, self.queue))
        return f"{queue} granted to {self.client_id} under {self.epoch[0]}.{self.epoch[1]}"


class Contradiction(NamedTuple):
    """Reports of one member that contradict each other: the broken invariant, and the records."""

    number: str
    text: str
    slice: tuple[Evidence, ...]


class EarlyWork(NamedTuple):
    """Work under a newer grant, reported before the older grant was resolved."""

    older: GrantFacts
    newer: GrantFacts
    worked: RawRecord
