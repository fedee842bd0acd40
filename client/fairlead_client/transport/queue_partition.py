"""Maps queues to their partitions on Kafka; all code that needs a partition uses it."""

from collections.abc import Iterable

from kafka.structs import TopicPartition

from fairlead_client.model import Queue, Subscription
from fairlead_client.session.topic_names import kafka_topic, retried_group


def known_topics(subscriptions: Iterable[Subscription]) -> list[str]:
    """Return Kafka's names of the subscribed topics, without retry topics.

    A retry topic may not exist yet, and kafka-python would ask for it many times a second.
    """
    topics = (subscription.topic for subscription in subscriptions)
    return [kafka_topic(topic) for topic in topics if retried_group(topic) is None]


def partition_of_queue(queue: Queue) -> TopicPartition:
    """Return the partition that holds a queue's messages.

    Raises:
        TopicNameError: the topic has Kafka's name of a retry topic.
    """
    return TopicPartition(kafka_topic(queue.topic), queue.queue_id)
