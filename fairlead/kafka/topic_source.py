"""Where a group is read from: Fairlead's topics, as they are now or as they were recorded."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from fairlead.kafka.missing_record import RecordPlace, WhyMissing
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

    @property
    def place(self) -> str:
        """Where the topics are, for people: *at* a cluster, or *in* a folder."""
        ...

    @property
    def tick_ms(self) -> int | None:
        """The period of the engine's ticks; None: as conf/ says."""
        ...

    def now_ms(self) -> int:
        """Return the time: of this machine, or of the newest record of a recording."""
        ...

    def partitions_of(self, suffix: str) -> range:
        """Return the partitions of a topic.

        Raises:
            EnvironmentMissingError: a live cluster does not have it.
            UsageError: a recording does not have it.
        """
        ...

    def rows(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> Iterator[RawRecord]:
        """Yield what stands in some partitions of a topic, in order within each.

        ``since_ms``: from the first record appended at this time or later; None: from the first.
        """
        ...

    def read(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> list[RawRecord]:
        """Return what `rows` yields."""
        ...

    def newest_ms(self, suffix: str, partition: int) -> int | None:
        """Return when the newest record of a partition was appended; None: there is none."""
        ...

    def records_at(
        self, places: Collection[RecordPlace]
    ) -> Mapping[RecordPlace, RawRecord | WhyMissing]:
        """Return the record at each place, or why there is none."""
        ...
