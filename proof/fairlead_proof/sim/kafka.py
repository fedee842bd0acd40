"""A small Kafka: ordered partitions, whose records the broker dates as it appends them.

The broker's clock may jump, and the broker may be away for a while; appended records stay. The
bytes of a record have no meaning here.
"""

from collections.abc import Callable

from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import TopicNames
from fairlead_proof.sim.timeline import Timeline

__all__ = ["CLOCK_BEGIN_MS", "Kafka", "Partition"]

CLOCK_BEGIN_MS = 1_780_000_000_000
"""The broker's clock at the beginning of a schedule."""


class Partition:
    """One partition. Compaction replaces a record by None."""

    def __init__(self, topic: str, number: int) -> None:
        self.topic = topic
        self.number = number
        self.records: list[RawRecord | None] = []
        self.followers: list[Callable[[RawRecord], None]] = []

    @property
    def end(self) -> int:
        """The offset of the next record."""
        return len(self.records)

    def between(self, begin: int, end: int) -> list[RawRecord]:
        """Return the remaining records between two offsets."""
        return [record for record in self.records[begin:end] if record is not None]

    def compact(self) -> int:
        """Keep only the newest record of each key; return how many were removed."""
        newest: dict[bytes | None, int] = {}
        for offset, record in enumerate(self.records):
            if record is not None:
                newest[record.key] = offset
        taken = 0
        for offset, record in enumerate(self.records):
            if record is not None and newest[record.key] != offset:
                self.records[offset] = None
                taken += 1
        return taken


class Kafka:
    """The broker and its partitions.

    Attributes:
        up: whether it answers.
        skew_ms: the sum of the jumps of its clock.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._names = TopicNames()
        self._partitions: dict[tuple[str, int], Partition] = {}
        self.up = True
        self.skew_ms = 0

    def partition(self, suffix: str, number: int = 0) -> Partition:
        """Return a partition of the topic with this suffix."""
        known = self._partitions.get((suffix, number))
        if known is None:
            known = Partition(self._names.name(suffix), number)
            self._partitions[suffix, number] = known
        return known

    def append(self, partition: Partition, key: bytes | None, value: bytes | None) -> RawRecord:
        """Append a record at the present time of the broker's clock."""
        append_ms = CLOCK_BEGIN_MS + self._timeline.now_ms + self.skew_ms
        offset = len(partition.records)
        record = RawRecord(partition.topic, partition.number, offset, append_ms, True, key, value)  # noqa: FBT003 - the row of a log has no names
        partition.records.append(record)
        for follower in partition.followers:
            follower(record)
        return record
