"""Look-ups on the cluster with the messages, through kafka-python's admin client.

It decides nothing: it returns what it learned and leaves out the rest. Topics have their names of
Fairlead's records, even the retry topics, whose names on Kafka only this module knows. After any
failure it creates a new admin client, because the old one never forgets a group's coordinator, and
because its reconnects take long.
"""

import contextlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import structlog
from fairlead_client.session.topic_names import (
    TopicNameError,
    kafka_topic,
    named_topic,
)
from kafka import KafkaAdminClient, TopicPartition
from kafka.errors import (
    BrokerResponseError,
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    KafkaError,
    NoError,
    RequestTimedOutError,
    TopicAuthorizationFailedError,
)
from kafka.protocol.consumer import OffsetSpec
from kafka.structs import OffsetAndMetadata

from fairlead.bridges.connection import bridge_connection
from fairlead.bridges.kafka.answer import OffsetLookup
from fairlead.bridges.kafka.committed import Committed
from fairlead.bridges.kafka.native_group import NativeGroup, read_native_group
from fairlead.bridges.kafka.snapshot import (
    Racks,
    TopicLook,
    TopicSeen,
    TopicUnclear,
    read_racks,
    read_topics,
)
from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.missing_rights import cluster_error, lack_words
from fairlead.kafka.reachability import require_reachable

__all__ = ["DENIED", "DataCluster", "LookUpError", "TopicsLook"]

DENIED: Final = (
    TopicAuthorizationFailedError,
    GroupAuthorizationFailedError,
    ClusterAuthorizationFailedError,
)
"""The errors for a missing permission."""

_ASKED_TOGETHER: Final = 640
"""Partitions per request: more make the library slower, and a failure more expensive."""

_Result = TypeVar("_Result")

log = structlog.get_logger(__name__)


class TopicsLook(NamedTuple):
    """One look per requested topic, and the racks of the nodes."""

    looks: list[TopicLook]
    racks: Racks


class LookUpError(Exception):
    """A look-up failed; the message says which one and why."""


class DataCluster:
    """One cluster; connects at the first question.

    Args:
        bootstrap: host:port, several separated by commas.
        timeout_ms: how long one answer of the cluster may take.
        options: further keyword arguments of KafkaAdminClient, for security.
    """

    def __init__(self, bootstrap: str, *, timeout_ms: int, options: Mapping[str, Any]) -> None:
        self._bootstrap, self._timeout_ms, self._options = bootstrap, timeout_ms, options
        self._config = bridge_connection(bootstrap, timeout_ms, options)
        self._admin: KafkaAdminClient | None = None

    def again(self) -> "DataCluster":
        """Return another connection to the same cluster, for another thread."""
        return DataCluster(self._bootstrap, timeout_ms=self._timeout_ms, options=self._options)

    def cluster_id(self) -> str:
        """Return the cluster's id.

        Raises:
            EnvironmentMissingError: the cluster does not answer.
        """
        try:
            cluster = self.ask("cluster", lambda admin: admin.describe_cluster())
        except LookUpError as error:
            raise self.unanswered(f"{self._bootstrap} does not answer", error) from error
        return str(cluster["cluster_id"])

    def unanswered(
        self, says: str, error: BaseException | str = "no answer"
    ) -> EnvironmentMissingError:
        """Return the error of an unanswered question, with its cause."""
        return cluster_error(self._config, f"data cluster: {says}", error)

    def names(self) -> list[str] | None:
        """Return the names of all topics; None if that failed."""
        try:
            topics = self.ask("names", lambda admin: admin.describe_topics())
        except LookUpError as error:
            log.warning("look_up_failed", error=str(error))
            return None
        return [named_topic(topic["name"]) for topic in topics]

    def look_at(self, topics: Sequence[str]) -> TopicsLook:
        """Look at these topics, all in one request; a failed look-up leaves each unclear."""
        try:
            cluster = self.ask("cluster", lambda admin: admin.describe_cluster())
            looks = self._describe(topics)
        except LookUpError as error:
            return TopicsLook([TopicUnclear(topic, str(error)) for topic in topics], {})
        return TopicsLook(looks, read_racks(cluster))

    def identity(self, topic: str) -> str | None:
        """Return a topic's current identity; None if the look-up does not show it whole."""
        try:
            look = self._describe([topic])[0]
        except LookUpError as error:
            log.warning("look_up_failed", topic=topic, error=str(error))
            return None
        return look.identity if isinstance(look, TopicSeen) else None

    def bounds(
        self, topic: str, leaders: Mapping[int, int], timestamps: Sequence[int]
    ) -> tuple[OffsetLookup, dict[int, dict[int, int]]]:
        """Look up the bounds of partitions, and the offsets for times.

        Args:
            topic: the topic.
            leaders: partition -> leader, for the partitions that have one. Each leader is asked
                separately, so that a broken one affects only its own partitions.
            timestamps: the requested times, in milliseconds.

        Returns:
            The look-up with ``earliest`` and ``latest``; and timestamp -> partition -> offset (−1:
            no such message), looked up after ``latest``.
        """
        by_leader: dict[int, list[int]] = defaultdict(list)
        for partition, leader in leaders.items():
            by_leader[leader].append(partition)
        earliest: dict[int, int] = {}
        latest: dict[int, int] = {}
        for_times: dict[int, dict[int, int]] = {timestamp: {} for timestamp in timestamps}
        for partitions in by_leader.values():
            earliest |= self._offsets(topic, partitions, OffsetSpec.EARLIEST)
            latest |= self._offsets(topic, partitions, OffsetSpec.LATEST)
            for timestamp in timestamps:
                for_times[timestamp] |= self._offsets(topic, partitions, timestamp)
        return OffsetLookup(earliest, latest), for_times

    def ends(self, leaders: Mapping[str, Mapping[int, int]]) -> dict[str, dict[int, int]]:
        """Look up the ends of partitions of many topics in few requests; leave out failed ones.

        Args:
            leaders: topic -> partition -> leader; each leader is asked separately.
        """
        names = {kafka_topic(topic): topic for topic in leaders}
        by_leader: dict[int, list[TopicPartition]] = defaultdict(list)
        for name, topic in names.items():
            for partition, leader in leaders[topic].items():
                by_leader[leader].append(TopicPartition(name, partition))
        ends: dict[str, dict[int, int]] = {topic: {} for topic in leaders}
        for places in by_leader.values():
            for begin in range(0, len(places), _ASKED_TOGETHER):
                asked = places[begin : begin + _ASKED_TOGETHER]
                for place, end in self._looked_up(asked, OffsetSpec.LATEST).items():
                    ends[names[place.topic]][place.partition] = end
        return ends

    def committed(self, group: str, topic: str, partitions: Sequence[int]) -> dict[int, Committed]:
        """Return a group's commits, per partition; empty if the look-up failed."""
        name = kafka_topic(topic)
        wanted = {group: [TopicPartition(name, partition) for partition in partitions]}
        lack = lack_words(self._config, "Describe", groups=[group])
        try:
            commits = self.ask("committed", lambda admin: admin.list_group_offsets(wanted), lack)
        except LookUpError as error:
            log.warning("look_up_failed", group=group, topic=topic, error=str(error))
            return {}
        return {
            key.partition: Committed(value.offset, value.metadata)
            for key, value in commits.get(group, {}).items()
        }

    def groups(self) -> list[str] | None:
        """Return the names of the cluster's consumer groups; None if that failed."""
        try:
            listed = self.ask("groups", lambda admin: admin.list_groups())
        except LookUpError as error:
            log.warning("look_up_failed", error=str(error))
            return None
        return sorted({group["group_id"] for group in listed})

    def native_group(self, group: str) -> NativeGroup | None:
        """Return the members of one of Kafka's own consumer groups; None if that failed."""
        try:
            listed = self.ask("groups", lambda admin: admin.list_groups())
            described = self.ask(
                "members",
                lambda admin: admin.describe_groups([group]),
                lack_words(self._config, "Describe", groups=[group]),
            )
        except LookUpError as error:
            log.warning("look_up_failed", group=group, error=str(error))
            return None
        return read_native_group(group, listed, described.get(group, {}))

    def commit(
        self, group: str, topic: str, offsets: Mapping[int, Committed]
    ) -> dict[int, str | None]:
        """Commit offsets of a group without members, without becoming a member.

        Returns:
            Per partition why the cluster refused it; None: it is committed.
        """
        name = kafka_topic(topic)
        wanted = {
            TopicPartition(name, number): OffsetAndMetadata(each.offset, each.metadata, -1)
            for number, each in offsets.items()
        }
        lack = lack_words(self._config, "Read", groups=[group])
        try:
            answers = self.ask(
                "commit", lambda admin: admin.alter_group_offsets(group, wanted), lack
            )
        except LookUpError as error:
            return dict.fromkeys(offsets, str(error))
        refusals: dict[int, str | None] = dict.fromkeys(offsets, "the cluster did not say")
        for key, refused in answers.items():
            why = None if refused is NoError else refused.__name__
            if refused is GroupAuthorizationFailedError:
                why = lack
            elif refused is TopicAuthorizationFailedError:
                why = lack_words(self._config, "Read", [name])
            refusals[key.partition] = why
        return refusals

    def committed_topics(self, group: str) -> list[str] | None:
        """Return the topics in which a group has committed anything; None if that failed."""
        try:
            commits = self.ask(
                "committed",
                lambda admin: admin.list_group_offsets({group: None}),
                lack_words(self._config, "Describe", groups=[group]),
            )
        except LookUpError as error:
            log.warning("look_up_failed", group=group, error=str(error))
            return None
        return sorted({named_topic(key.topic) for key in commits.get(group, {})})

    def close(self) -> None:
        """Close the connections; the next look-up opens new ones."""
        admin, self._admin = self._admin, None
        if admin is not None:
            admin.close()

    def _describe(self, topics: Sequence[str]) -> list[TopicLook]:
        """Look at topics; a topic with another topic's name on Kafka is unclear.

        Raises:
            LookUpError: the cluster did not answer.
        """
        names: dict[str, str] = {}
        refused: dict[str, TopicLook] = {}
        for topic in topics:
            try:
                names[topic] = kafka_topic(topic)
            except TopicNameError as error:
                refused[topic] = TopicUnclear(topic, str(error))
        described = []
        if names:
            described = self.ask("topics", lambda admin: admin.describe_topics([*names.values()]))
        named = [{**one, "name": named_topic(one["name"])} for one in described]
        denied = {
            one["name"]: TopicUnclear(one["name"], lack_words(self._config, "Describe", [name]))
            for one in named
            if one["error_code"] == TopicAuthorizationFailedError.errno
            for name in [names[one["name"]]]
        }
        looks = {look.topic: look for look in read_topics(names, named)} | denied | refused
        return [looks[topic] for topic in topics]

    def _offsets(self, topic: str, partitions: Sequence[int], spec: Any) -> dict[int, int]:
        """Look up one offset per partition; leave out partitions where that failed."""
        name = kafka_topic(topic)
        offsets = self._looked_up([TopicPartition(name, each) for each in partitions], spec)
        return {place.partition: offset for place, offset in offsets.items()}

    def _looked_up(self, wanted: Sequence[TopicPartition], spec: Any) -> dict[TopicPartition, int]:
        try:
            return self.ask("offsets", lambda admin: _offsets(admin, wanted, spec))
        except LookUpError as error:
            topics = ", ".join(sorted({named_topic(place.topic) for place in wanted}))
            log.warning("look_up_failed", topic=topics, error=str(error))
            return {}

    def ask(
        self, what: str, question: Callable[[KafkaAdminClient], _Result], lack: str = ""
    ) -> _Result:
        """Ask the cluster; ``lack`` is the error's text if the answer is "not allowed".

        Raises:
            LookUpError: it did not answer, or refused.
        """
        try:
            if self._admin is None:
                self._admin = self._connect()
            return question(self._admin)
        except DENIED as error:
            # The connection still works.
            reason = lack or f"{type(error).__name__}: {error}"
            raise LookUpError(f"{what}: {reason}") from error
        except (KafkaError, EnvironmentMissingError, OSError) as error:
            self.close()
            raise LookUpError(f"{what}: {type(error).__name__}: {error}") from error

    def _connect(self) -> KafkaAdminClient:
        require_reachable(self._config)
        connect = {**KafkaAdminClient.DEFAULT_CONFIG, **self._config}["kafka_client"]
        with contextlib.ExitStack() as on_failure:

            def network(**given: Any) -> Any:
                # A failing constructor leaves its thread and sockets behind.
                client = connect(**given)
                on_failure.callback(client.close)
                return client

            admin = KafkaAdminClient(**{**self._config, "kafka_client": network})
            on_failure.pop_all()
        return admin


def _offsets(
    admin: KafkaAdminClient, wanted: Sequence[TopicPartition], spec: Any
) -> dict[TopicPartition, int]:
    """Look up one offset per partition in one request.

    Because of one refused partition kafka-python refuses the whole answer. Then the function asks
    for each half, so that only the refused partition is lost.

    Raises:
        KafkaError: the cluster did not answer.
    """
    try:
        listed = admin.list_partition_offsets(dict.fromkeys(wanted, spec))
    except RequestTimedOutError:
        raise
    except BrokerResponseError as error:
        if len(wanted) == 1:
            log.warning("look_up_refused", partition=wanted[0], error=type(error).__name__)
            return {}
        middle = len(wanted) // 2
        return _offsets(admin, wanted[:middle], spec) | _offsets(admin, wanted[middle:], spec)
    return {key: entry.offset for key, entry in listed.items()}
