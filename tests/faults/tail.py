"""What topics hold, read on from where the last look ended: a trial does not read all anew."""

import contextlib
from collections.abc import Sequence

from kafka import KafkaConsumer, TopicPartition

from fairlead.kafka.topic_content import TopicContent
from fairlead.wire.raw import RawRecord, raw_record
from tests.kit.topic_reading import Polled, read_to_ends


class Tail:
    """Topics of one cluster, each from its first record."""

    def __init__(self, bootstrap: str, topics: Sequence[str]) -> None:
        """Connect; every topic exists."""
        self._bootstrap = bootstrap
        self._topics = topics
        self._partitions: dict[str, list[TopicPartition]] = {}
        self._records: dict[str, list[RawRecord]] = {}
        self._consumer = self._begun()

    def begin(self) -> None:
        """Read from the first records on, of all partitions that there are now."""
        self.close()
        self._consumer = self._begun()

    def _begun(self) -> KafkaConsumer:
        consumer = KafkaConsumer(
            bootstrap_servers=self._bootstrap, enable_auto_commit=False, max_poll_records=5_000
        )
        self._partitions = {
            topic: [
                TopicPartition(topic, number)
                for number in sorted(consumer.partitions_for_topic(topic))
            ]
            for topic in self._topics
        }
        self._records = {topic: [] for topic in self._topics}
        consumer.assign([each for known in self._partitions.values() for each in known])
        consumer.seek_to_beginning()
        return consumer

    def close(self) -> None:
        """Let go of the connection."""
        with contextlib.closing(self._consumer):
            pass

    def catch_up(self) -> None:
        """Read to the ends as they are now.

        Raises:
            TimeoutError: the broker did not give everything in time.
        """
        read_to_ends(self._consumer, self._take)

    def _take(self, polled: Polled) -> None:
        for partition, records in polled.items():
            self._records[partition.topic] += [raw_record(r) for r in records]

    def ends(self, topic: str) -> dict[int, int]:
        """Return the next offset to be written of each partition."""
        ends = self._consumer.end_offsets(self._partitions[topic])
        return {partition.partition: end for partition, end in ends.items()}

    def records(self, topic: str) -> Sequence[RawRecord]:
        """Return what was read of a topic so far; in order within each partition."""
        return self._records[topic]

    def content(self, topic: str) -> TopicContent:
        """Return the same, with the numbers of all partitions."""
        numbers = tuple(partition.partition for partition in self._partitions[topic])
        return TopicContent(topic, numbers, tuple(self._records[topic]))
