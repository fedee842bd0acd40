"""A source that forwards to another one whatever it does not decide itself."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from fairlead.kafka.missing_record import RecordPlace, WhyMissing
from fairlead.kafka.topic_source import TopicSource
from fairlead.wire.raw import Partitions, RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["ForwardingSource"]


class ForwardingSource:
    """Forwards a source's properties to the source behind it."""

    def __init__(self, source: TopicSource) -> None:
        self._source = source

    @property
    def names(self) -> TopicNames:
        """The names of the topics."""
        return self._source.names

    @property
    def partitions(self) -> Partitions:
        """Their partition counts."""
        return self._source.partitions

    @property
    def place(self) -> str:
        """The location of the topics."""
        return self._source.place

    @property
    def tick_ms(self) -> int | None:
        """The period of the engine's ticks; None: the one in conf/."""
        return self._source.tick_ms

    def now_ms(self) -> int:
        """Return the time."""
        return self._source.now_ms()

    def partitions_of(self, suffix: str) -> range:
        """Return the partitions of a topic."""
        return self._source.partitions_of(suffix)

    def rows(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> Iterator[RawRecord]:
        """Yield what stands in some partitions of a topic, in order within each."""
        raise NotImplementedError

    def read(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> list[RawRecord]:
        """Return what `rows` yields."""
        return list(self.rows(suffix, partitions, since_ms))

    def records_at(
        self, places: Collection[RecordPlace]
    ) -> Mapping[RecordPlace, RawRecord | WhyMissing]:
        """Return the record at each place, or why there is none."""
        return self._source.records_at(places)
