"""One fetch of a consumer, without what is not of the granted topics.

An offset outside of its partition is reported, never silently begun anew.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from kafka import KafkaConsumer
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

from fairlead_client.model import Queue
from fairlead_client.transport.offset_correction import ILLEGAL, illegal_partitions
from fairlead_client.transport.queue_partition import partition_of_queue
from fairlead_client.transport.topic_identity import TopicIdentities


class Fetched(NamedTuple):
    """What a fetch brought.

    `illegal` are partitions that stand at an offset outside of them. `changed`: a topic was
    replaced, or nobody could tell: what is read must be worked out again. `unsure`: nobody could
    tell, so everything is fetched again.
    """

    records: Mapping[TopicPartition, list[Any]]
    illegal: tuple[TopicPartition, ...] = ()
    changed: bool = False
    unsure: bool = False


class GrantedFetch:
    """Fetches, and holds back queues whose topic is not the one that they were granted of.

    Args:
        identity_of: the identity that the add of a queue named, see `TopicIdentities`.
        queue_of: the queue that is read from a partition; None: none is.
        wait_ms: how long a look at the topics may take.
    """

    def __init__(
        self,
        identity_of: Callable[[Queue], str | None],
        queue_of: Callable[[TopicPartition], Queue | None],
        wait_ms: int,
    ) -> None:
        self._queue_of = queue_of
        self.identities = TopicIdentities(identity_of, wait_ms)

    def poll(self, kafka: KafkaConsumer, timeout_ms: int) -> Fetched:
        """Fetch once."""
        self.identities.fetches()
        try:
            fetched = dict(kafka.poll(timeout_ms=timeout_ms))
        except ILLEGAL as error:
            illegal = illegal_partitions(error)
        else:
            return self._granted(kafka, fetched)
        try:
            strange = self._strange(kafka, illegal, at_once=True)
        except KafkaError:
            # If the topics cannot be looked at now, the next poll says the same again.
            return Fetched({})
        left = tuple(partition for partition in illegal if partition not in strange)
        return Fetched({}, left, bool(strange))

    def may_read_again(self, kafka: KafkaConsumer | None) -> bool:
        """Look again at what is held back; tell whether any of it may be read after all."""
        with suppress(KafkaError):
            return kafka is not None and self.identities.release(kafka)
        return False

    def _granted(self, kafka: KafkaConsumer, fetched: dict[TopicPartition, list[Any]]) -> Fetched:
        try:
            strange = self._strange(kafka, fetched)
        except KafkaError:
            return Fetched({}, changed=True, unsure=True)
        left = {
            partition: records for partition, records in fetched.items() if partition not in strange
        }
        return Fetched(left, changed=bool(strange))

    def _strange(
        self, kafka: KafkaConsumer, partitions: Iterable[TopicPartition], *, at_once: bool = False
    ) -> set[TopicPartition]:
        queues = [queue for one in partitions if (queue := self._queue_of(one)) is not None]
        self.identities.fetched()
        found = self.identities.verify(kafka, queues, at_once=at_once)
        return {partition_of_queue(queue) for queue in found}
