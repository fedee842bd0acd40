"""Where a client's own assignments come, for a fetch that shall end when one is there."""

from kafka import KafkaConsumer
from kafka.structs import TopicPartition

from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.connection import partition_count
from fairlead_client.transport.partitioner import partition_of
from fairlead_client.transport.topics import Topics

__all__ = ["own_assignments"]


def own_assignments(
    kafka: KafkaConsumer, settings: Settings, client_id: str
) -> TopicPartition | None:
    """Return the partition of a client's assignments; None: the client does not read them."""
    if settings.gateway:
        return None
    topic = Topics(settings.prefix).assignments
    count = partition_count(kafka, topic)
    return TopicPartition(topic, partition_of(settings.group + client_id, count)) if count else None
