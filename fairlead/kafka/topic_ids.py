"""Checks that the input topics are still the ones that a checkpoint has read.

A topic that somebody deletes and creates again keeps its name and gets another id. Its offsets
begin at 0, so a checkpoint would skip new records below its old position. Once the topic has grown
past that position, only the id shows it.
"""

import contextlib
from collections.abc import Collection, Mapping
from typing import Final
from uuid import UUID

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from fairlead.errors import RefusedError
from fairlead.kafka.connection import client_options
from fairlead.kafka.input_topics import input_topics
from fairlead.kafka.missing_rights import cluster_error
from fairlead.kafka.reachability import require_reachable
from fairlead.settings import KafkaSettings
from fairlead.wire.topics import TopicNames

TopicIds = Mapping[str, str]
"""Kafka's id of each input topic, by full name, without topics that have none."""

_NONE: Final = UUID(int=0)
"""The answer of brokers that do not support ids."""


def read_topic_ids(kafka: KafkaSettings, topics: Collection[str] | None = None) -> TopicIds:
    """Return the ids of some topics, by full name; with None, of the input topics.

    Raises:
        EnvironmentMissingError: the cluster does not answer.
    """
    options = client_options(kafka, "topic-ids")
    require_reachable(options)
    try:
        with contextlib.closing(KafkaAdminClient(**options)) as admin:
            wanted = input_topics(TopicNames(kafka.topic_prefix)) if topics is None else topics
            described = admin.describe_topics([*wanted])
    except KafkaError as error:
        raise cluster_error(options, "the cluster does not answer", error) from error
    return known_ids({topic["name"]: topic.get("topic_id") for topic in described})


def check_topic_ids(stored: TopicIds, current: TopicIds) -> None:
    """Compare the topics that a checkpoint has read with the current ones.

    A topic without an id on either side is not compared: brokers before 2.8 have none.

    Raises:
        RefusedError: a topic was recreated; the message names each.
    """
    recreated = [
        f"{name} (its id was {stored[name]} and is {current[name]})"
        for name in sorted(stored.keys() & current.keys())
        if stored[name] != current[name]
    ]
    if recreated:
        raise RefusedError(
            f"engine.checkpoint: topics were recreated since then: {', '.join(recreated)}.",
            remedy="If kafka.bootstrap and kafka.topic_prefix are right, move engine.checkpoint "
            "away and start: the engine recovers from the clients' claims. If the topic "
            "generations is new as well, stop every client first.",
        )


def known_ids(told: Mapping[str, object]) -> TopicIds:
    """Return the ids among a broker's answers; brokers before 2.8 tell none."""
    texts = {name: str(told[name]) for name in sorted(told) if told[name]}
    return {name: text for name, text in texts.items() if text != str(_NONE)}
