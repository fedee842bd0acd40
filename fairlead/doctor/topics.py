"""Checks Fairlead's topics: present, set as docs/protocol.md §1 demands, led and replicated."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from fairlead.counts import counted
from fairlead.doctor.answer import Answer, fail, ok, warn
from fairlead.doctor.context import CheckContext
from fairlead.doctor.nodes import named_brokers
from fairlead.kafka.acls import acl_command
from fairlead.kafka.input_topics import SHARDED_TOPICS
from fairlead.kafka.topic_creation import TopicDifference, configs_of, differences_of
from fairlead.kafka.topic_specification import topic_specs
from fairlead.wire.topics import ALL_TOPICS

__all__ = ["copies", "topics"]

_COPIES_SAFE: Final = 3
_ALIKE: Final = (SHARDED_TOPICS, ("assignments", "handovers"))
"""Topics that must have the same number of partitions."""


class _Behind(NamedTuple):
    """The brokers whose replicas of a partition are not in sync, and its number of replicas."""

    brokers: tuple[int, ...]
    copies: int


def topics(context: CheckContext) -> Iterator[Answer]:
    """Compare each topic with its specification: partitions, dates, cleanup, sizes, elections."""
    cluster, kafka = context.cluster, context.settings.kafka
    configs = _configs(context)
    without = [suffix for suffix in cluster.described if suffix not in configs]
    gone = cluster.deleted_since(without) if without else frozenset()
    present = {suffix: topic for suffix, topic in cluster.described.items() if suffix not in gone}
    missing = [
        cluster.names.name(suffix)
        for suffix in ALL_TOPICS
        if suffix not in present and suffix not in cluster.hidden
    ]
    if cluster.hidden:
        hidden = [cluster.names.name(suffix) for suffix in cluster.hidden]
        yield fail(
            f"this user may not see {', '.join(hidden)}, and so not whether they exist",
            acl_command(context.options, ["Describe"], topics=hidden),
        )
    if missing:
        yield fail(
            f"missing: {', '.join(missing)}",
            "start an engine with a new checkpoint, or: fairlead broker start --bootstrap "
            f"{kafka.bootstrap}; both create them. If they exist under another prefix, set "
            "kafka.topic_prefix",
        )
    for alike in _ALIKE:
        counts = {suffix: cluster.partitions(suffix) for suffix in alike if suffix in present}
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{cluster.names.name(name)} {n}" for name, n in counts.items())
            yield fail(
                f"these must have the same number of partitions: {listed}",
                "Kafka cannot remove partitions: start again with another kafka.topic_prefix and "
                "another engine.checkpoint",
            )
    unseen = [cluster.names.name(suffix) for suffix in present if suffix not in configs]
    if unseen:
        yield fail(
            f"this user may not read the settings of {', '.join(unseen)}; an engine that cannot "
            "read them refuses to start",
            acl_command(context.options, ["DescribeConfigs"], topics=unseen),
        )
    differences = differences_of(
        {suffix: len(topic["partitions"]) for suffix, topic in present.items()},
        configs,
        kafka.topic_prefix,
        topic_specs(context.settings.topics),
    )
    for difference in differences:
        says = f"{difference.topic}: {difference.setting} is {difference.found}"
        says += f", not {difference.expected}"
        remedy = _remedy(difference, kafka.bootstrap)
        if difference.essential:
            yield fail(f"{says}; an engine refuses to start", remedy)
        else:
            yield warn(f"{says}; Fairlead works, but slower or at more cost", remedy)
    if present and not differences and not unseen:
        yield ok(f"{len(present)} of {len(ALL_TOPICS)} exist, with right partitions and settings")


def copies(context: CheckContext) -> Iterator[Answer]:
    """Check that each partition has a leader, enough replicas, and accepts writes."""
    cluster = context.cluster
    nodes = len(context.nodes().places)
    configs = _configs(context)
    healthy = True
    behind: Counter[_Behind] = Counter()
    for suffix, topic in cluster.described.items():
        name = topic["name"]
        wanted = int(configs.get(suffix, {}).get("min.insync.replicas", "1"))
        leaderless, thin = [], []
        for partition in topic["partitions"]:
            number = partition["partition_index"]
            if partition["error_code"] != 0 or partition["leader_id"] < 0:
                leaderless.append(number)
            elif len(partition["isr_nodes"]) < wanted:
                thin.append(number)
            elif out := _out_of_sync(partition):
                behind[out] += 1
        numbers = [len(partition["replica_nodes"]) for partition in topic["partitions"]]
        few = min(numbers, default=0)
        for what, partitions in (("no leader", leaderless), ("too few in-sync replicas", thin)):
            if partitions:
                yield fail(
                    f"{name}: partitions {', '.join(map(str, sorted(partitions)))} have {what} and "
                    "accept no writes",
                    "start the brokers again that are down",
                )
        if few < min(nodes, _COPIES_SAFE):
            yield warn(
                f"{name}: only {few} of {nodes} brokers have a replica; losing one may lose data",
                "kafka-reassign-partitions, to 3 replicas; kafka.replication_factor only serves "
                "new topics",
            )
        elif few >= _COPIES_SAFE and wanted == 1:
            yield warn(
                f"{name}: Kafka accepts a record that only one of {few} replicas has",
                _alter(name, "min.insync.replicas", "2", context.settings.kafka.bootstrap),
            )
        healthy = healthy and not leaderless and not thin and few >= min(nodes, _COPIES_SAFE)
    yield from _behind(context, behind)
    if cluster.described and healthy and not behind:
        yield ok("every partition has a leader, and its replicas are in sync")


def _out_of_sync(partition: Mapping[str, Any]) -> _Behind | None:
    """Return the brokers whose replicas of a partition are out of sync; None: there is none."""
    out = {*partition["replica_nodes"]} - {*partition["isr_nodes"]}
    return _Behind(tuple(sorted(out)), len(partition["replica_nodes"])) if out else None


def _behind(context: CheckContext, behind: Mapping[_Behind, int]) -> Iterator[Answer]:
    """Report replicas that are out of sync though Kafka accepts records, with their brokers."""
    answering = context.nodes().answering
    for (brokers, copies_wanted), partitions in sorted(behind.items()):
        gone = [number for number in brokers if number not in answering]
        why = f"{named_brokers(gone or brokers)} {'gone or silent' if gone else 'behind'}"
        remedy = (
            "see: broker; when it is back it copies what it missed"
            if gone
            else "run the doctor again in a minute; if this stays, check the broker's log and disk"
        )
        yield warn(
            f"{len(brokers)} of {copies_wanted} replicas of {counted(partitions, 'partition')} "
            f"{'is' if len(brokers) == 1 else 'are'} not in sync: {why}",
            remedy,
        )


def _configs(context: CheckContext) -> dict[str, dict[str, str]]:
    """Return all settings in force of the visible topics, by suffix."""
    names = {topic["name"]: suffix for suffix, topic in context.cluster.described.items()}
    configs = configs_of(context.cluster.admin, list(names))
    return {names[name]: settings for name, settings in configs.items()}


def _remedy(difference: TopicDifference, bootstrap: str) -> str:
    """Return how to put one setting right."""
    if difference.setting == "partitions":
        return (
            f"set topics.{_partitions_key(difference.topic)} to {difference.found}, or start again "
            "with another kafka.topic_prefix and another engine.checkpoint"
        )
    return _alter(difference.topic, difference.setting, difference.expected, bootstrap)


def _partitions_key(topic: str) -> str:
    of_clients = topic.endswith(("assignments", "handovers"))
    return "assignments_partitions" if of_clients else "heartbeats_partitions"


def _alter(topic: str, setting: str, value: str, bootstrap: str) -> str:
    return (
        f"kafka-configs.sh --bootstrap-server {bootstrap} --alter --topic '{topic}' "
        f"--add-config {setting}={value}"
    )
