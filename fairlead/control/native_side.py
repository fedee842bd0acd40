"""A native group as adopt and release see it, on whichever cluster it is."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from fairlead.bridges.kafka.native_group import NativeGroup
from fairlead.control.queue_place import QueuePlace
from fairlead.core.model import MessageQueue, Position

__all__ = ["NativeSide"]


class NativeSide(Protocol):
    """One group of native consumers; every method asks the cluster."""

    @property
    def group(self) -> str:
        """Return its name."""

    def read_members(self) -> NativeGroup:
        """Return its present members.

        Raises:
            EnvironmentMissingError: the cluster does not answer.
        """

    def topics(self) -> list[str]:
        """Return the topics in which it has committed anything.

        Raises:
            EnvironmentMissingError: the cluster does not answer.
        """

    def positions(self, places: Iterable[QueuePlace]) -> dict[MessageQueue, int]:
        """Return its position in each queue; a queue without a commit has no entry.

        Raises:
            EnvironmentMissingError: the cluster does not answer.
        """

    def commit(
        self, positions: Mapping[MessageQueue, tuple[QueuePlace, Position]]
    ) -> dict[MessageQueue, str | None]:
        """Commit where it shall go on; return per queue why that failed, None: it stands."""
