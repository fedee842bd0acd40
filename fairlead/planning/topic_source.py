"""Where a live group is read from: Fairlead's topics, as they are now."""

from collections.abc import Sequence
from typing import Protocol

from fairlead.wire.raw import Partitions, RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["TopicSource"]


class TopicSource(Protocol):
    """Reads topics; writes nothing, and makes none."""

    @property
    def names(self) -> TopicNames:
        """What the topics are called."""
        ...

    @property
    def partitions(self) -> Partitions:
        """How many partitions they have."""
        ...

    def read(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> list[RawRecord]:
        """Return what stands in some partitions of a topic, in order within each.

        ``since_ms``: from the first record appended at this time or later; None: from the first.
        """
        ...

    def newest_ms(self, suffix: str, partition: int) -> int | None:
        """Return when the newest record of a partition was appended; None: there is none."""
        ...
