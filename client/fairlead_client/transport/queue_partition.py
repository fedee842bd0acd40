"""Where a queue's messages stand on Kafka: the one place that turns queues into partitions."""

from collections.abc import Iterable

from kafka.structs import TopicPartition

from fairlead_client.model import Queue, Subscription
from fairlead_client.session.topic_names import kafka_topic, retried_group


def known_topics(subscriptions: Iterable[Subscription]) -> list[str]:
    """Return what Kafka calls the topics of these that are there before anybody subscribes.

    A retry topic may come later: kafka-python would ask for it many times a second until then.
    """
    return [kafka_topic(one.topic) for one in subscriptions if retried_group(one.topic) is None]


def partition_of_queue(queue: Queue) -> TopicPartition:
    """Return the partition that holds a queue's messages.

    Raises:
        TopicNameError: the topic is called what a retry topic is called on Kafka.
    """
    return TopicPartition(kafka_topic(queue.topic), queue.queue_id)
