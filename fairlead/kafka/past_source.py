"""A source that shows only what was appended up to a moment.

Topics that are deleted by age show the past as it was. A compacted topic keeps the newest record of
a key, so a key that was written again later has lost what it said then: `lost` names it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from fairlead.kafka.forwarding_source import ForwardingSource
from fairlead.kafka.missing_record import COMPACTED_TOPICS, RecordPlace, WhyMissing
from fairlead.kafka.topic_source import TopicSource
from fairlead.wire.raw import RawRecord

__all__ = ["PastSource"]

_BESIDE_MS: Final = 60_000
"""Writers date records of some topics; their clocks differ by less than this."""
_LOOKS_BACK_MS: Final = (60_000, 1_200_000, None)
"""Look so far before the moment for the newest record, in turn; None: from the first."""


class PastSource(ForwardingSource):
    """What a source showed at a moment.

    Args:
        source: the topics.
        at_ms: the moment, by append times.

    Attributes:
        lost: suffix of a compacted topic -> the keys that nobody knows of any more what they said.
    """

    def __init__(self, source: TopicSource, at_ms: int) -> None:
        super().__init__(source)
        self._at_ms = at_ms
        self._instead: dict[str, Sequence[RawRecord]] = {}
        self.lost: dict[str, set[bytes]] = {}

    def show(self, suffix: str, rows: Sequence[RawRecord]) -> None:
        """Show these rows in place of a topic's own."""
        self._instead[suffix] = rows

    def now_ms(self) -> int:
        """Return the moment."""
        return self._at_ms

    def rows(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> Iterator[RawRecord]:
        """Yield what stood in some partitions of a topic, in order within each."""
        if suffix in self._instead:
            yield from (row for row in self._instead[suffix] if row.partition in partitions)
        elif suffix in COMPACTED_TOPICS:
            yield from self._compacted(suffix, partitions)
        else:
            yield from self._appended(suffix, partitions, since_ms)

    def _appended(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None
    ) -> Iterator[RawRecord]:
        left = set(partitions)
        for row in self._source.rows(suffix, partitions, since_ms):
            if row.append_ms <= self._at_ms:
                yield row
            elif row.append_ms > self._at_ms + _BESIDE_MS:
                left.discard(row.partition)
                if not left:
                    return

    def _compacted(self, suffix: str, partitions: Sequence[int]) -> Iterator[RawRecord]:
        told: set[bytes] = set()
        later: set[bytes] = set()
        for row in self._source.rows(suffix, partitions):
            key = row.key or b""
            if row.append_ms <= self._at_ms:
                told.add(key)
                yield row
            else:
                later.add(key)
        self.lost.setdefault(suffix, set()).update(later - told)

    def newest_ms(self, suffix: str, partition: int) -> int | None:
        """Return when the newest record of a partition had been appended; None: there was none."""
        for back_ms in _LOOKS_BACK_MS:
            since_ms = None if back_ms is None else max(self._at_ms - back_ms, 0)
            newest = max(
                (row.append_ms for row in self.rows(suffix, [partition], since_ms)), default=None
            )
            if newest is not None:
                return newest
        return None

    def records_at(
        self, places: Collection[RecordPlace]
    ) -> Mapping[RecordPlace, RawRecord | WhyMissing]:
        """Return the record at each place; one that came later was not there yet."""
        found = super().records_at(places)
        return {place: self._then(each) for place, each in found.items()}

    def _then(self, found: RawRecord | WhyMissing) -> RawRecord | WhyMissing:
        if isinstance(found, RawRecord) and found.append_ms > self._at_ms:
            return "not_yet"
        return found
