"""Creates missing topics, and reports the differences of existing ones.

It changes no existing topic: Kafka cannot remove partitions, and somebody may have chosen a setting
on purpose.
"""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kafka import KafkaAdminClient
from kafka.admin import ConfigFilterType, ConfigResource, ConfigResourceType
from kafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from fairlead.errors import EnvironmentMissingError
from fairlead.kafka.missing_rights import cluster_error
from fairlead.kafka.reachability import require_reachable
from fairlead.kafka.topic_specification import ESSENTIAL_SETTINGS, TopicSpec

BROKERS_CHOICE: Final = -1
READY_WAIT_MS: Final = 60_000
"""How long to wait for new topics; a busy broker once needed 10 s to know one."""
_KNOWN_SECONDS: Final = 10.0
"""How long a broker may take to learn of a topic that another broker created."""
_LOOK_SECONDS: Final = 0.1
_REPLICAS_FOR_TWO_IN_SYNC: Final = 3
_REMEDY: Final = "Allow this user Create on the cluster, or create the topics as another user."


@dataclass(frozen=True, slots=True)
class TopicDifference:
    """A wrong setting of an existing topic.

    Attributes:
        topic: the topic's full name.
        setting: a Kafka setting, or "partitions" or "replication.factor".
        expected: the right value.
        found: the current value.
    """

    topic: str
    setting: str
    expected: str
    found: str

    @property
    def essential(self) -> bool:
        """Whether it can make decisions wrong, and not only late or expensive."""
        return self.setting in ESSENTIAL_SETTINGS


@dataclass(frozen=True, slots=True)
class TopicReport:
    """The result for all topics; full names in the order of the specifications.

    Attributes:
        created: topics created just now.
        existing: topics that existed before.
        missing: missing topics (only if none should be created).
        differences: wrong settings of existing topics.
    """

    created: tuple[str, ...]
    existing: tuple[str, ...]
    missing: tuple[str, ...]
    differences: tuple[TopicDifference, ...]


def create_topics(
    connection: Mapping[str, Any],
    prefix: str,
    specs: Sequence[TopicSpec],
    replication_factor: int = BROKERS_CHOICE,
) -> TopicReport:
    """Create the missing topics and compare the others; return when all have leaders.

    Args:
        connection: keyword arguments of a kafka-python client, at least bootstrap_servers.
        prefix: the topics' prefix.
        specs: the topics.
        replication_factor: copies of each; −1 leaves it to the broker.

    Raises:
        EnvironmentMissingError: the cluster does not answer, or refuses to create a topic.
    """
    with admin_of(connection) as admin:
        before = _described(admin, prefix, specs)
        absent = [spec for spec in specs if prefix + spec.suffix not in before]
        created = _create(admin, prefix, absent, replication_factor)
        report = _compare(admin, prefix, specs, replication_factor, made=True)
    existing = tuple(name for name in report.existing if name not in created)
    return TopicReport(created, existing, report.missing, report.differences)


def inspect_topics(
    connection: Mapping[str, Any],
    prefix: str,
    specs: Sequence[TopicSpec],
    replication_factor: int = BROKERS_CHOICE,
) -> TopicReport:
    """Compare the topics and create none.

    Raises:
        EnvironmentMissingError: the cluster does not answer.
    """
    with admin_of(connection) as admin:
        return _compare(admin, prefix, specs, replication_factor)


@contextlib.contextmanager
def admin_of(connection: Mapping[str, Any]) -> Iterator[KafkaAdminClient]:
    """Open an admin client; its errors leave the context as errors with a cause.

    Raises:
        EnvironmentMissingError: the cluster does not answer, or refuses.
    """
    require_reachable(connection)
    try:
        with contextlib.closing(KafkaAdminClient(**connection)) as admin:
            yield admin
    except KafkaError as error:
        says = f"{connection['bootstrap_servers']} does not serve the request"
        raise cluster_error(connection, says, error) from error


def _create(
    admin: KafkaAdminClient, prefix: str, specs: Sequence[TopicSpec], replication_factor: int
) -> tuple[str, ...]:
    """Create the topics; return the names of those that nobody else has created meanwhile."""
    if not specs:
        return ()
    wanted = {
        prefix + spec.suffix: {
            "num_partitions": spec.partitions,
            "replication_factor": replication_factor,
            "configs": _config(spec, replication_factor),
        }
        for spec in specs
    }
    answer = admin.create_topics(wanted, raise_errors=False)
    created = []
    for topic in answer["topics"]:
        if topic["error_code"] == 0:
            created.append(topic["name"])
        elif topic["error_code"] != TopicAlreadyExistsError.errno:
            raise EnvironmentMissingError(
                f"topics: {topic['name']} cannot be created: "
                f"{for_code(topic['error_code']).__name__} ({topic['error_message']}).",
                remedy=_REMEDY,
            )
    admin.wait_for_topics(list(wanted), timeout_ms=READY_WAIT_MS)
    return tuple(created)


def _compare(
    admin: KafkaAdminClient,
    prefix: str,
    specs: Sequence[TopicSpec],
    replication_factor: int,
    *,
    made: bool = False,
) -> TopicReport:
    """Compare the existing topics; the asked broker may learn of new ones only after a while.

    ``made``: all topics exist or were just created, so wait until the broker knows each.
    """
    ends_s = time.monotonic() + _KNOWN_SECONDS
    while True:
        described = _described(admin, prefix, specs)
        configs = configs_of(admin, list(described))
        # A broker reports no settings of a topic that it does not know, or that it refuses. The
        # broker asked before may know topics that somebody else has just created.
        unseen = sorted({*described} - {*configs})
        complete = not unseen and (len(described) == len(specs) or not made)
        if complete or time.monotonic() >= ends_s:
            break
        time.sleep(_LOOK_SECONDS)
    if unseen:
        raise EnvironmentMissingError(
            f"topics: this user may not read the settings of {', '.join(unseen)}; or they are new, "
            f"and a broker has not learned of them within {_KNOWN_SECONDS:.0f} s.",
            remedy="kafka-acls.sh --add --operation DescribeConfigs for each of them; fairlead "
            "doctor prints the whole command. If they are new, start again.",
        )
    partitions = {name.removeprefix(prefix): len(copies) for name, copies in described.items()}
    by_suffix = {name.removeprefix(prefix): config for name, config in configs.items()}
    differences = list(differences_of(partitions, by_suffix, prefix, specs, replication_factor))
    if replication_factor != BROKERS_CHOICE:
        differences += [
            TopicDifference(name, "replication.factor", str(replication_factor), str(min(copies)))
            for name, copies in described.items()
            if min(copies) != replication_factor
        ]
    existing = tuple(prefix + spec.suffix for spec in specs if prefix + spec.suffix in described)
    missing = tuple(prefix + spec.suffix for spec in specs if prefix + spec.suffix not in described)
    return TopicReport((), existing, missing, tuple(differences))


def differences_of(
    partitions: Mapping[str, int],
    configs: Mapping[str, Mapping[str, str]],
    prefix: str,
    specs: Sequence[TopicSpec],
    replication_factor: int = BROKERS_CHOICE,
) -> list[TopicDifference]:
    """Compare existing topics with their specifications.

    Args:
        partitions: the number of partitions, by suffix; missing topics are not compared.
        configs: all effective settings, by suffix; without them only the partitions are compared.
        prefix: the topics' prefix.
        specs: the specifications.
        replication_factor: the requested number of copies; −1: none requested.
    """
    differences = []
    for spec in specs:
        if spec.suffix not in partitions:
            continue
        expected, actual = {"partitions": str(spec.partitions)}, configs.get(spec.suffix)
        if actual is not None:
            expected |= _config(spec, replication_factor)
        actual = {"partitions": str(partitions[spec.suffix]), **(actual or {})}
        differences += [
            TopicDifference(prefix + spec.suffix, setting, value, actual.get(setting, "not set"))
            for setting, value in expected.items()
            if actual.get(setting) != value
        ]
    return differences


def _config(spec: TopicSpec, replication_factor: int) -> dict[str, str]:
    """Return the topic's settings; with three copies, two must have a record before it counts."""
    if replication_factor >= _REPLICAS_FOR_TWO_IN_SYNC:
        return {**spec.config, "min.insync.replicas": "2"}
    return dict(spec.config)


def _described(
    admin: KafkaAdminClient, prefix: str, specs: Sequence[TopicSpec]
) -> dict[str, list[int]]:
    """Return the existing topics: full name -> the number of copies of each partition."""
    described = admin.describe_topics([prefix + spec.suffix for spec in specs])
    return {
        topic["name"]: [len(partition["replica_nodes"]) for partition in topic["partitions"]]
        for topic in described
        if topic["error_code"] == 0
    }


def configs_of(admin: KafkaAdminClient, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return all effective settings of topics, by name, without topics hidden from the user."""
    if not names:
        return {}
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    answer = admin.describe_configs(resources, config_filter=ConfigFilterType.ALL)
    # The library hides a refusal; but every topic has settings, so an empty answer is a refusal.
    return {
        name: {setting: entry["value"] for setting, entry in settings.items()}
        for name, settings in answer["topic"].items()
        if settings
    }
