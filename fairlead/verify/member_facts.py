"""The facts of one incarnation of one client, from its own heartbeats."""

from dataclasses import dataclass

from fairlead.core.model import Epoch, MemberKey, Process
from fairlead.wire.raw import RawRecord

__all__ = ["MemberFacts"]


@dataclass(slots=True)
class MemberFacts:
    """One incarnation of one client, from its own heartbeats.

    Attributes:
        born_ms: the log clock at its first heartbeat.
        seen_ms: the log clock at its newest heartbeat.
        seen: its newest heartbeat.
        shares: it is of the clustering model. A broadcasting member gets no queue, and has no
            ``topics``.
        acked: the newest generation to which its claims are complete.
        digest: of its set, in its newest heartbeat.
        changes: how often the digest changed.
        rival: a greater process with its client id, each heard after the other had started.
        rival_ms: the log clock when both were first heard so.
        last_started: what it started last, with the record, if it leaves and says so.
    """

    key: MemberKey
    process: Process
    incarnations: int
    lease_ms: int
    topics: frozenset[str]
    born_ms: int
    seen_ms: int
    seen: RawRecord
    ordered: bool = False
    shares: bool = True
    left: bool = False
    lapsed: bool = False
    acked: int = 0
    digest: int = 0
    changes: int = 0
    rival: "MemberFacts | None" = None
    rival_ms: int = 0
    last_started: tuple[Epoch, RawRecord] | None = None

    @property
    def gone(self) -> bool:
        """Whether it has left, or was silent for too long."""
        return self.left or self.lapsed
