"""Fairlead's topics on a live cluster, read and nothing else."""

from collections.abc import Sequence

from fairlead.settings import KafkaSettings
from fairlead.wire.raw import Partitions, RawRecord, raw_record
from fairlead.wire.topics import TopicNames
from streaming.reading import partition_counts, read_newest, read_to_end

__all__ = ["KafkaSource"]

_READ = ("heartbeats", "releases", "control", "routes", "assignments")


class KafkaSource:
    """A source of records (``fairlead.planning.topic_source``) on a cluster."""

    def __init__(self, kafka: KafkaSettings) -> None:
        """Ask the cluster how many partitions the topics have.

        Raises:
            EnvironmentMissingError: it does not answer, or a topic is not there.
        """
        self._kafka = kafka
        self.names = TopicNames(kafka.topic_prefix)
        counts = partition_counts(kafka, [self.names.name(topic) for topic in _READ])
        self.partitions = Partitions(
            shards=counts[self.names.name("heartbeats")],
            assignments=counts[self.names.name("assignments")],
        )

    def read(
        self, suffix: str, partitions: Sequence[int], since_ms: int | None = None
    ) -> list[RawRecord]:
        """Return what stands in some partitions of a topic, in order within each."""
        found = read_to_end(self._kafka, self.names.name(suffix), partitions, since_ms)
        return [raw_record(record) for record in found]

    def newest_ms(self, suffix: str, partition: int) -> int | None:
        """Return when the newest record of a partition was appended; None: there is none."""
        record = read_newest(self._kafka, self.names.name(suffix), partition)
        return None if record is None else record.timestamp
