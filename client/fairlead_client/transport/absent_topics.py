"""Topics that are not there: a consumer asks for one when it is given a partition of it.

kafka-python repeats a question that names an absent topic after 100 ms, for ever, and logs an error
for each answer. Nobody waits for the answers: the engine grants a queue once a bridge has seen its
topic, and an assignment that names the topic asks for it at once. So an absent topic is dropped
from the question, rather than only its lines from the log.
"""

from typing import Any

from kafka import KafkaConsumer


def drop_absent_topics(consumer: KafkaConsumer) -> None:
    """Drop from each later question what an answer lacks and no partition is assigned of."""
    cluster = consumer._cluster  # noqa: SLF001 - what is asked for can be taken back nowhere else

    def drop(answered: Any) -> None:
        asked = answered._topics  # noqa: SLF001 - see above
        held = {partition.topic for partition in consumer.assignment()}
        # Those that this user may not see are asked for again when somebody looks.
        kept = held | answered.unauthorized_topics
        asked -= {topic for topic in asked - kept if answered.partitions_for_topic(topic) is None}

    # As a new set: the thread of the connections may be calling those of the present one.
    cluster._listeners = cluster._listeners | {drop}  # noqa: SLF001
