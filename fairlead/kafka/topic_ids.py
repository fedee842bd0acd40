"""Whether the input topics are still those that a checkpoint has read.

A topic that is deleted and made again has its old name and another id. Its offsets begin anew, so a
checkpoint would skip what is written below the place up to which it has read, and nothing but the
id tells: once the topic has grown past that place it looks whole.
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
"""Kafka's id of each input topic, by its full name; a topic is left out that has none."""

_NONE: Final = UUID(int=0)
"""What brokers answer that do not know ids."""


def read_topic_ids(kafka: KafkaSettings, topics: Collection[str] | None = None) -> TopicIds:
    """Return the ids of some topics, by their full names; None: of the input topics.

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
    found = {topic["name"]: topic.get("topic_id") for topic in described}
    return {name: str(found[name]) for name in sorted(found) if _is_id(found[name])}


def check_topic_ids(stored: TopicIds, found: TopicIds) -> None:
    """Compare the topics that a checkpoint has read with those that are there.

    A topic of which one side knows no id is not compared: brokers before 2.8 have none.

    Raises:
        RefusedError: one was made anew; names every one.
    """
    anew = [
        f"{name} (its id was {stored[name]} and is {found[name]})"
        for name in sorted(stored.keys() & found.keys())
        if stored[name] != found[name]
    ]
    if anew:
        raise RefusedError(
            f"engine.checkpoint: topics were made anew since it was written: {', '.join(anew)}.",
            remedy="If kafka.bootstrap and kafka.topic_prefix are right, move engine.checkpoint "
            "away and start: the engine recovers from what clients claim. If the topic "
            "generations is new as well, stop every client first.",
        )


def _is_id(found: object) -> bool:
    return found is not None and str(found) not in {str(_NONE), ""}
