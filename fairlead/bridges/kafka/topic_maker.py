"""Creates, closes and removes topics on the cluster with the messages.

It decides nothing: it carries out orders, and returns for each topic why the cluster refused.
"""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Final

import structlog
from fairlead_client.session.topic_names import TopicNameError, kafka_topic
from kafka.admin import AlterConfigOp, ConfigResource, ConfigResourceType
from kafka.errors import (
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    for_code,
)

from fairlead.bridges.kafka.data_cluster import DENIED, DataCluster, LookUpError
from fairlead.bridges.kafka.message_limits import MessageLimit
from fairlead.bridges.kafka.retry_removal import CLOSED_BYTES
from fairlead.bridges.kafka.snapshot import TopicSeen
from fairlead.kafka.missing_rights import lack_words, lacking

__all__ = ["TopicMaker"]

_CONFIGS: Final = {"cleanup.policy": "delete", "retention.ms": str(7 * 24 * 3_600 * 1_000)}
"""Settings of new topics: no message is deleted too early, whatever the brokers' defaults are."""

_LIMIT: Final = "max.message.bytes"
_REMOVE: Final = (AlterConfigOp.DELETE, None)
_SET: Final = "DYNAMIC_TOPIC_CONFIG"
"""Kafka's source of a setting that is set on the topic itself."""

log = structlog.get_logger(__name__)


class TopicMaker(DataCluster):
    """A separate connection to the cluster, for calls that take longer than a look."""

    def create(self, topics: Mapping[str, int]) -> dict[str, str | None]:
        """Create topics with these numbers of partitions and the brokers' default copies.

        Returns:
            Per topic why it does not exist; None: it exists.
        """
        wanted = {
            kafka_topic(topic): {"num_partitions": queues, "configs": _CONFIGS}
            for topic, queues in topics.items()
        }
        try:
            answer = self.ask(
                "create",
                lambda admin: admin.create_topics(wanted, raise_errors=False),
                lack_words(self._config, "Create", [*wanted]),
            )
        except LookUpError as error:
            return dict.fromkeys(topics, str(error))
        refused = {
            topic["name"]: lack_words(self._config, "Create", [topic["name"]])
            if for_code(topic["error_code"]) in DENIED
            else f"{for_code(topic['error_code']).__name__} {topic['error_message']}"
            for topic in answer["topics"]
            if topic["error_code"] not in (0, TopicAlreadyExistsError.errno)
        }
        return {topic: refused.get(kafka_topic(topic)) for topic in topics}

    def message_limits(self, topics: Sequence[str]) -> dict[str, MessageLimit] | None:
        """Return the message limits of existing topics; None: that failed.

        Topics whose settings this user may not see are left out and logged.
        """
        names: dict[str, str] = {}
        for topic in topics:
            # Ignore a topic that has another topic's name on Kafka.
            with contextlib.suppress(TopicNameError):
                names[topic] = kafka_topic(topic)
        try:
            hidden = self._hidden_settings([*names.values()])
            seen = [name for name in names.values() if name not in hidden]
            if hidden:
                lack = lack_words(self._config, "DescribeConfigs", hidden)
                log.warning("limits_not_seen", error=lack)
            if not seen:
                return {}
            wanted = [ConfigResource(ConfigResourceType.TOPIC, name, [_LIMIT]) for name in seen]
            answer = self.ask(
                "limits", lambda admin: admin.describe_configs(wanted, config_filter="all")
            )
        except LookUpError as error:
            log.warning("look_up_failed", error=str(error))
            return None
        by_topic = {topic: answer.get("topic", {}).get(name, {}) for topic, name in names.items()}
        return {
            topic: MessageLimit(int(one[_LIMIT]["value"]), one[_LIMIT]["config_source"] == _SET)
            for topic, one in by_topic.items()
            if _LIMIT in one
        }

    def raise_message_limits(self, limits: Mapping[str, int]) -> dict[str, str | None]:
        """Set the message limits of topics, in bytes.

        Returns:
            Per topic why it was refused; None: success.
        """
        wanted = [
            ConfigResource(ConfigResourceType.TOPIC, kafka_topic(topic), {_LIMIT: str(limit)})
            for topic, limit in limits.items()
        ]
        return self._altered([*limits], wanted)

    def _altered(
        self, topics: Sequence[str], wanted: Sequence[ConfigResource]
    ) -> dict[str, str | None]:
        try:
            answer = self.ask(
                "limits", lambda admin: admin.alter_configs(wanted, raise_on_unknown=False)
            )
        except LookUpError as error:
            return dict.fromkeys(topics, str(error))
        answers = {topic: answer.get("topic", {}).get(kafka_topic(topic)) for topic in topics}
        return {topic: self._refused(topic, answer) for topic, answer in answers.items()}

    def _refused(self, topic: str, answer: object) -> str | None:
        """Return why a setting was not altered; None if it was."""
        if answer == "OK":
            return None
        if TopicAuthorizationFailedError.__name__ in str(answer):
            return lack_words(self._config, "AlterConfigs", [kafka_topic(topic)])
        return str(answer)

    def _hidden_settings(self, names: Sequence[str]) -> list[str]:
        """Return the topics whose settings this user may not see.

        Raises:
            LookUpError: the cluster did not answer.
        """
        described = self.ask("limits", lambda admin: admin.describe_topics(names))
        lacks = lacking([(name, ("DescribeConfigs",)) for name in names], described)
        return [name for several in lacks.values() for name in several]

    def close_to_writes(self, topics: Sequence[str]) -> dict[str, str | None]:
        """Close topics: they accept no more messages.

        Returns:
            Per topic why it was refused; None: success.
        """
        return self.raise_message_limits(dict.fromkeys(topics, CLOSED_BYTES)) if topics else {}

    def open_to_writes(self, topics: Sequence[str]) -> list[str]:
        """Open the closed ones of these topics, with the default message limit.

        Returns:
            The topics that were opened.
        """
        limits = self.message_limits(topics) or {}
        closed = [
            topic for topic, limit in limits.items() if limit.is_own and limit.limit == CLOSED_BYTES
        ]
        if not closed:
            return []
        wanted = [
            ConfigResource(ConfigResourceType.TOPIC, kafka_topic(topic), {_LIMIT: _REMOVE})
            for topic in closed
        ]
        answers = self._altered(closed, wanted)
        return [topic for topic in closed if answers[topic] is None]

    def is_empty(self, topic: str) -> bool:
        """Tell whether a topic holds no message; False if unknown."""
        try:
            look = self._describe([topic])[0]
        except LookUpError as error:
            log.warning("look_up_failed", topic=topic, error=str(error))
            return False
        if not isinstance(look, TopicSeen):
            return False
        leaders = {
            number: leader for number, leader in enumerate(look.leaders) if leader is not None
        }
        bounds, _ = self.bounds(topic, leaders, ())
        return all(
            number in bounds.latest and bounds.earliest.get(number) == bounds.latest[number]
            for number in range(len(look.leaders))
        )

    def delete(self, topics: Sequence[str]) -> dict[str, str | None]:
        """Delete topics with their messages.

        Returns:
            Per topic why it was refused; None: success.
        """
        if not topics:
            return {}
        names = {kafka_topic(topic): topic for topic in topics}
        try:
            answer = self.ask(
                "delete",
                lambda admin: admin.delete_topics([*names], raise_errors=False),
                lack_words(self._config, "Delete", [*names]),
            )
        except LookUpError as error:
            return dict.fromkeys(topics, str(error))
        refused = {
            names[one["name"]]: lack_words(self._config, "Delete", [one["name"]])
            if for_code(one["error_code"]) in DENIED
            else for_code(one["error_code"]).__name__
            for one in answer["topics"]
            if one["error_code"] not in (0, UnknownTopicOrPartitionError.errno)
        }
        return {topic: refused.get(topic) for topic in topics}
