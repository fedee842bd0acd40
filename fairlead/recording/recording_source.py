"""Reads Fairlead's topics from a recording of `fairlead record`."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

from fairlead.kafka.missing_record import RecordPlace, WhyMissing, why_missing
from fairlead.recording import RecordingError, RecordingFolder
from fairlead.wire.raw import RawRecord

__all__ = ["DumpSource"]


class DumpSource:
    """A source of records (``fairlead.kafka.topic_source``) in a recording.

    Its present is the time of the newest record.
    """

    def __init__(self, recording: RecordingFolder) -> None:
        self._recording = recording
        self._newest: dict[tuple[str, int], int | None] = {}
        manifest = recording.manifest
        self.names = manifest.names
        self.partitions = manifest.partitions
        self.tick_ms = manifest.settings.tick_ms

    @property
    def place(self) -> str:
        """The folder."""
        return f"in the recording {self._recording.folder}"

    def now_ms(self) -> int:
        """Return the append time of the newest record; without records, that of the recording."""
        manifest = self._recording.manifest
        times = (
            self.newest_ms(suffix, number)
            for suffix, parts in manifest.topics.items()
            for number in parts
        )
        known = [time for time in times if time is not None]
        return max(known, default=manifest.recorded_at_ms)

    def partitions_of(self, suffix: str) -> range:
        """Return the partitions of a topic.

        Raises:
            RecordingError: the recording lacks it.
        """
        parts = self._recording.manifest.topics.get(suffix)
        if parts is None:
            detail = f"{self.names.name(suffix)} did not exist at the time of the recording"
            raise RecordingError(self._recording.folder, detail)
        return range(len(parts))

    def rows(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> Iterator[RawRecord]:
        """Yield the records of some partitions of a topic, in order within each.

        Raises:
            RecordingError: a file is missing, damaged or cut off.
        """
        for number in partitions:
            rows = self._recording.rows(suffix, number)
            if since_ms is not None:
                rows = itertools.dropwhile(lambda row: row.append_ms < since_ms, rows)
            yield from rows

    def read(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> list[RawRecord]:
        """Return what `rows` yields."""
        return list(self.rows(suffix, partitions, since_ms))

    def newest_ms(self, suffix: str, partition: int) -> int | None:
        """Return the append time of a partition's newest record; None: there is none."""
        place = (suffix, partition)
        if place not in self._newest:
            newest = self._recording.newest(suffix, partition)
            self._newest[place] = None if newest is None else newest.append_ms
        return self._newest[place]

    def records_at(
        self, places: Collection[RecordPlace]
    ) -> Mapping[RecordPlace, RawRecord | WhyMissing]:
        """Return the record at each place, or why there is none."""
        wanted: dict[tuple[str, int], set[int]] = {}
        for topic, number, offset in places:
            wanted.setdefault((topic, number), set()).add(offset)
        records: dict[RecordPlace, RawRecord | WhyMissing] = {}
        for (topic, number), offsets in wanted.items():
            suffix = self.names.suffix(topic)
            part = self._recording.manifest.topics.get(suffix or "", {}).get(number)
            bounds = None if part is None else (part.first, part.end)
            for offset in offsets:
                records[topic, number, offset] = why_missing(suffix, offset, bounds)
            if suffix is not None and part is not None:
                for row in self._recording.rows(suffix, number):
                    if row.offset in offsets:
                        records[topic, number, row.offset] = row
                    if row.offset >= max(offsets):
                        break
        return records
