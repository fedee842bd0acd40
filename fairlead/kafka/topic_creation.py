"""Make the topics that are missing, and say what differs in those that are there.

Nothing that exists is changed: partitions cannot be taken back, and a setting may have been chosen.
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
"""How long topics that were just made are waited for: a busy broker knew one only after 10 s."""
_KNOWN_SECONDS: Final = 10.0
"""So long every broker may take to hear of a topic that another one made."""
_LOOK_SECONDS: Final = 0.1
_REPLICAS_FOR_TWO_IN_SYNC: Final = 3
_REMEDY: Final = "Allow this user Create on the cluster, or make the topics as another user."


@dataclass(frozen=True, slots=True)
class TopicDifference:
    """One setting of an existing topic that is not as it should be.

    Attributes:
        topic: the topic's full name.
        setting: a Kafka setting, or "partitions" or "replication.factor".
        expected: what it should be.
        found: what it is.
    """

    topic: str
    setting: str
    expected: str
    found: str

    @property
    def essential(self) -> bool:
        """Whether decisions may be wrong with it, not only later or at more cost."""
        return self.setting in ESSENTIAL_SETTINGS


@dataclass(frozen=True, slots=True)
class TopicReport:
    """What was done and found, full names in the order of the specifications.

    Attributes:
        created: made just now.
        existing: there before.
        missing: not there (only when nothing was to be made).
        differences: in those that exist.
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
    """Make the topics that are missing and compare the others; return when all have leaders.

    Args:
        connection: keyword arguments of a kafka-python client, bootstrap_servers at least.
        prefix: what the topics' names begin with.
        specs: the topics.
        replication_factor: copies of each; −1 leaves it to the broker.

    Raises:
        EnvironmentMissingError: the cluster does not answer, or refuses to make a topic.
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
    """Compare the topics and make none.

    Raises:
        EnvironmentMissingError: the cluster does not answer.
    """
    with admin_of(connection) as admin:
        return _compare(admin, prefix, specs, replication_factor)


@contextlib.contextmanager
def admin_of(connection: Mapping[str, Any]) -> Iterator[KafkaAdminClient]:
    """Ask something of a cluster; whatever it does not answer is told with its cause.

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
    """Make the topics; return the names of those that nobody else made meanwhile."""
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
                f"topics: {topic['name']} cannot be made: {for_code(topic['error_code']).__name__}"
                f" ({topic['error_message']}).",
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
    """Compare what is there; the broker asked may hear of new topics only after a while.

    ``made``: all topics were there or made just now, so each one must come to be known.
    """
    ends_s = time.monotonic() + _KNOWN_SECONDS
    while True:
        found = _described(admin, prefix, specs)
        configs = configs_of(admin, list(found))
        # Of a topic that it does not know a broker tells no settings, as of one that is refused.
        # Whoever was asked before may know topics that somebody else makes just now.
        unseen = sorted({*found} - {*configs})
        complete = not unseen and (len(found) == len(specs) or not made)
        if complete or time.monotonic() >= ends_s:
            break
        time.sleep(_LOOK_SECONDS)
    if unseen:
        raise EnvironmentMissingError(
            f"topics: this user may not look at the settings of {', '.join(unseen)}; or somebody "
            f"made them just now, and a broker has not heard of them in {_KNOWN_SECONDS:.0f} s.",
            remedy="kafka-acls.sh --add --operation DescribeConfigs for each of them; fairlead "
            "doctor writes the whole command. If they are new: start again.",
        )
    partitions = {name.removeprefix(prefix): len(copies) for name, copies in found.items()}
    by_suffix = {name.removeprefix(prefix): config for name, config in configs.items()}
    differences = list(differences_of(partitions, by_suffix, prefix, specs, replication_factor))
    if replication_factor != BROKERS_CHOICE:
        differences += [
            TopicDifference(name, "replication.factor", str(replication_factor), str(min(copies)))
            for name, copies in found.items()
            if min(copies) != replication_factor
        ]
    existing = tuple(prefix + spec.suffix for spec in specs if prefix + spec.suffix in found)
    missing = tuple(prefix + spec.suffix for spec in specs if prefix + spec.suffix not in found)
    return TopicReport((), existing, missing, tuple(differences))


def differences_of(
    partitions: Mapping[str, int],
    configs: Mapping[str, Mapping[str, str]],
    prefix: str,
    specs: Sequence[TopicSpec],
    replication_factor: int = BROKERS_CHOICE,
) -> list[TopicDifference]:
    """Compare topics that are there with what they should be.

    Args:
        partitions: how many each has, by suffix; what is not there is not compared.
        configs: all settings in force of each, by suffix; of what is left out nothing but the
            partitions is compared.
        prefix: what the topics' names begin with.
        specs: what they should be.
        replication_factor: copies that were asked for; −1: nobody did.
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
    """The topic's settings; with three copies, two must have a record before it counts."""
    if replication_factor >= _REPLICAS_FOR_TWO_IN_SYNC:
        return {**spec.config, "min.insync.replicas": "2"}
    return dict(spec.config)


def _described(
    admin: KafkaAdminClient, prefix: str, specs: Sequence[TopicSpec]
) -> dict[str, list[int]]:
    """The topics that exist: full name → the number of copies of each partition."""
    described = admin.describe_topics([prefix + spec.suffix for spec in specs])
    return {
        topic["name"]: [len(partition["replica_nodes"]) for partition in topic["partitions"]]
        for topic in described
        if topic["error_code"] == 0
    }


def configs_of(admin: KafkaAdminClient, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return all settings in force of topics, by name; those that may not be seen are left out."""
    if not names:
        return {}
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    answer = admin.describe_configs(resources, config_filter=ConfigFilterType.ALL)
    # The library passes over a refusal: no topic has no settings at all.
    return {
        name: {setting: entry["value"] for setting, entry in settings.items()}
        for name, settings in answer["topic"].items()
        if settings
    }
