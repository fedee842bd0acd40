"""What is known of one incarnation of one client, by its own heartbeats."""

from dataclasses import dataclass

from fairlead.core.model import Epoch, MemberKey, Process
from fairlead.wire.raw import RawRecord

__all__ = ["MemberFacts"]


@dataclass(slots=True)
class MemberFacts:
    """One incarnation of one client, by its own heartbeats.

    ``born_ms`` and ``seen_ms`` are the log clock at its first and its newest heartbeat, ``seen`` is
    the newest; ``acked`` the newest generation whose claims are complete. ``rival`` is a greater
    process with its client id: each was heard after the other had come, at ``rival_ms`` first.
    ``digest`` is that of what it held at its newest heartbeat, and ``changes`` counts how often it
    became another one. ``last_started``: it leaves, and
    what it started last, with the record that says so; None: it did not tell. ``shares``: it is of
    the clustering model; of one that broadcasts ``topics`` says nothing, for it is given no queue.
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
        """Whether it is not there any more: it has left, or was silent for too long."""
        return self.left or self.lapsed
