"""Stops kafka-python from asking for missing topics.

kafka-python repeats a question for a missing topic every 100 ms, for ever, and logs an error for
each answer. Nobody needs the answers: the engine grants a queue once a bridge has seen its topic,
and the assignment of its partition asks for the topic at once.
"""

from typing import Any

from kafka import KafkaConsumer


def drop_absent_topics(consumer: KafkaConsumer) -> None:
    """Stop asking for topics that an answer lacks, unless a partition of them is assigned."""
    cluster = consumer._cluster  # noqa: SLF001 - the library has no public way

    def drop(answered: Any) -> None:
        asked = answered._topics  # noqa: SLF001 - see above
        held = {partition.topic for partition in consumer.assignment()}
        # Topics that this user may not see stay: the right may come later.
        kept = held | answered.unauthorized_topics
        asked -= {topic for topic in asked - kept if answered.partitions_for_topic(topic) is None}

    # A new set, because the connections' thread may be iterating over the present one.
    cluster._listeners = cluster._listeners | {drop}  # noqa: SLF001
