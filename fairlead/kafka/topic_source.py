"""The source of a group's records: Fairlead's topics, live or recorded."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from fairlead.kafka.missing_record import RecordPlace, WhyMissing
from fairlead.wire.raw import Partitions, RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["TopicSource"]


class TopicSource(Protocol):
    """Reads topics; writes nothing and creates none."""

    @property
    def names(self) -> TopicNames:
        """The names of the topics."""
        ...

    @property
    def partitions(self) -> Partitions:
        """Their partition counts."""
        ...

    @property
    def place(self) -> str:
        """The location of the topics, for people: *at* a cluster, or *in* a folder."""
        ...

    @property
    def tick_ms(self) -> int | None:
        """The period of the engine's ticks; None: the one in conf/."""
        ...

    def now_ms(self) -> int:
        """Return the time of this machine, or that of the newest record of a recording."""
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
        """Return the append time of a partition's newest record; None if there is none."""
        ...

    def records_at(
        self, places: Collection[RecordPlace]
    ) -> Mapping[RecordPlace, RawRecord | WhyMissing]:
        """Return the record at each place, or why there is none."""
        ...
