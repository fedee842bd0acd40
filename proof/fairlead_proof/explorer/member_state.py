"""What a world sees of a client, whether it reads the log itself or through gateways."""

from typing import Protocol

from fairlead.core import model

__all__ = ["MemberState"]


class MemberState(Protocol):
    """One client at one moment."""

    @property
    def client(self) -> int:
        """Its number."""

    @property
    def member(self) -> model.MemberKey:
        """Its present incarnation."""

    @property
    def birth(self) -> int:
        """The newest claimed generation at the beginning of its incarnation."""

    @property
    def works(self) -> tuple[tuple[int, model.Epoch], ...]:
        """The queues that it works on under a running lease, and their epochs."""

    @property
    def works_on(self) -> int:
        """The same queues as bits."""

    @property
    def waits(self) -> bool:
        """Whether it is alive, and a gate or a drain is open."""

    @property
    def digest(self) -> int | None:
        """The digest in its heartbeats; None: it has no lease."""

    @property
    def stopped(self) -> bool:
        """Whether this incarnation has stopped for good."""

    @property
    def closed(self) -> bool:
        """Whether it left cleanly."""

    @property
    def knows(self) -> float:
        """The newest generation that it knows, and obeys; infinite if it has stopped."""
