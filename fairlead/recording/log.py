"""The input topics of a recording for a replay, read along with it and never as a whole."""

from collections import deque
from collections.abc import Iterator

from fairlead.recording.folder import RecordingFolder
from fairlead.replay.recorded_log import Places
from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import INPUT_TOPICS, TopicNames

__all__ = ["FolderLog"]


class FolderLog:
    """A recorded log (``fairlead.replay.recorded_log``) in a folder.

    A replay asks for one range after the other. The log keeps the last range, since a batch may run
    twice; for an earlier range it opens the file again.
    """

    def __init__(self, recording: RecordingFolder) -> None:
        self._recording = recording
        self._windows: dict[tuple[str, int], _Window] = {}

    def between(self, begin: Places, end: Places) -> list[RawRecord]:
        """Return the rows between the positions of two cuts."""
        rows: list[RawRecord] = []
        for topic in sorted(end):
            for partition, stop in sorted(end[topic].items()):
                start = begin.get(topic, {}).get(partition, 0)
                if start < stop and self._has(topic, partition):
                    rows += self._window(topic, partition, start).rows_between(start, stop)
        return rows

    def ends(self, names: TopicNames, shard: int) -> Places:
        """Return the ends of the topics that a shard reads."""
        manifest = self._recording.manifest
        ends: dict[str, dict[int, int]] = {}
        for suffix in INPUT_TOPICS:
            if suffix == "generations":
                continue
            for number, part in manifest.topics[suffix].items():
                if suffix in {"routes", "offsets"} or number == shard:
                    ends.setdefault(names.name(suffix), {})[number] = part.end
        return ends

    def holds_all_below(self, topic: str, partition: int, stop: int, begin: int = 0) -> bool:
        """Tell whether a partition has every offset from ``begin`` to below ``stop``."""
        if not self._has(topic, partition):
            return False
        part = self._recording.part(self._suffix(topic), partition)
        unbroken = part.records == part.end - part.first
        return unbroken and part.first <= begin and part.end >= stop

    def _suffix(self, topic: str) -> str:
        return self._recording.manifest.names.suffix(topic) or ""

    def _has(self, topic: str, partition: int) -> bool:
        return partition in self._recording.manifest.topics.get(self._suffix(topic), {})

    def _window(self, topic: str, partition: int, start: int) -> "_Window":
        window = self._windows.get((topic, partition))
        if window is None or start < window.begin:
            rows = self._recording.rows(self._suffix(topic), partition)
            window = self._windows[topic, partition] = _Window(rows)
        return window


class _Window:
    """The rows of one partition from the last requested offset on."""

    def __init__(self, rows: Iterator[RawRecord]) -> None:
        self.begin = 0
        self._rows = rows
        self._held: deque[RawRecord] = deque()

    def rows_between(self, start: int, stop: int) -> list[RawRecord]:
        self.begin = start
        while self._held and self._held[0].offset < start:
            self._held.popleft()
        while not self._held or self._held[-1].offset < stop:
            row = next(self._rows, None)
            if row is None:
                break
            if row.offset >= start:
                self._held.append(row)
        return [row for row in self._held if row.offset < stop]
