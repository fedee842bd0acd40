"""Fairlead's topics as they were recorded in a folder of `fairlead record`."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

from fairlead.kafka.missing_record import RecordPlace, WhyMissing, why_missing
from fairlead.recording import RecordingError, RecordingFolder
from fairlead.wire.raw import RawRecord

__all__ = ["DumpSource"]


class DumpSource:
    """A source of records (``fairlead.kafka.topic_source``) in a recording.

    Its time is that of the newest record: what was live then is live.
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
        """Return when the newest record of all topics was appended; else when it was recorded."""
        manifest = self._recording.manifest
        times = (
            self.newest_ms(suffix, number)
            for suffix, parts in manifest.topics.items()
            for number in parts
        )
        found = [each for each in times if each is not None]
        return max(found, default=manifest.recorded_at_ms)

    def partitions_of(self, suffix: str) -> range:
        """Return the partitions of a topic.

        Raises:
            RecordingError: it was not recorded.
        """
        parts = self._recording.manifest.topics.get(suffix)
        if parts is None:
            detail = f"{self.names.name(suffix)} was not there when it was recorded"
            raise RecordingError(self._recording.folder, detail)
        return range(len(parts))

    def rows(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> Iterator[RawRecord]:
        """Yield what stands in some partitions of a topic, in order within each.

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
        """Return when the newest record of a partition was appended; None: there is none."""
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
        found: dict[RecordPlace, RawRecord | WhyMissing] = {}
        for (topic, number), offsets in wanted.items():
            suffix = self.names.suffix(topic)
            part = self._recording.manifest.topics.get(suffix or "", {}).get(number)
            bounds = None if part is None else (part.first, part.end)
            for offset in offsets:
                found[topic, number, offset] = why_missing(suffix, offset, bounds)
            if suffix is not None and part is not None:
                for row in self._recording.rows(suffix, number):
                    if row.offset in offsets:
                        found[topic, number, row.offset] = row
                    if row.offset >= max(offsets):
                        break
        return found
