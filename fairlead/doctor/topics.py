"""Fairlead's topics: there, set as docs/protocol.md §1 wants them, led and copied."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from fairlead.counts import counted
from fairlead.doctor.answer import Answer, fail, ok, warn
from fairlead.doctor.nodes import named_brokers
from fairlead.doctor.surroundings import Surroundings
from fairlead.kafka.acls import acl_command
from fairlead.kafka.input_topics import SHARDED_TOPICS
from fairlead.kafka.topic_creation import TopicDifference, configs_of, differences_of
from fairlead.kafka.topic_specification import topic_specs
from fairlead.wire.topics import ALL_TOPICS

__all__ = ["copies", "topics"]

_COPIES_SAFE: Final = 3
_ALIKE: Final = (SHARDED_TOPICS, ("assignments", "handovers"))
"""Topics that must have as many partitions as each other."""


class _Behind(NamedTuple):
    """Brokers whose copies of a partition are not in sync, and how many copies it has."""

    brokers: tuple[int, ...]
    copies: int


def topics(around: Surroundings) -> Iterator[Answer]:
    """Compare each topic with what it must be: partitions, dates, cleanup, sizes, elections."""
    cluster, kafka = around.cluster, around.settings.kafka
    configs = _configs(around)
    without = [suffix for suffix in cluster.described if suffix not in configs]
    gone = cluster.gone(without) if without else frozenset()
    found = {suffix: topic for suffix, topic in cluster.described.items() if suffix not in gone}
    missing = [
        cluster.names.name(suffix)
        for suffix in ALL_TOPICS
        if suffix not in found and suffix not in cluster.hidden
    ]
    if cluster.hidden:
        hidden = [cluster.names.name(suffix) for suffix in cluster.hidden]
        yield fail(
            f"this user may not see {', '.join(hidden)}: whether they are there is not known",
            acl_command(around.options, ["Describe"], topics=hidden),
        )
    if missing:
        yield fail(
            f"missing: {', '.join(missing)}",
            "an engine with a new checkpoint makes them, and so does: "
            f"fairlead broker start --bootstrap {kafka.bootstrap}; if they are there under "
            "another prefix, set kafka.topic_prefix",
        )
    for alike in _ALIKE:
        counts = {suffix: cluster.partitions(suffix) for suffix in alike if suffix in found}
        if len(set(counts.values())) > 1:
            told = ", ".join(f"{cluster.names.name(name)} {n}" for name, n in counts.items())
            yield fail(
                f"these must have as many partitions as each other: {told}",
                "partitions cannot be taken back: start anew under another kafka.topic_prefix and "
                "with another engine.checkpoint",
            )
    unseen = [cluster.names.name(suffix) for suffix in found if suffix not in configs]
    if unseen:
        yield fail(
            f"this user may not look at the settings of {', '.join(unseen)}; an engine refuses to "
            "start without having seen them",
            acl_command(around.options, ["DescribeConfigs"], topics=unseen),
        )
    differences = differences_of(
        {suffix: len(topic["partitions"]) for suffix, topic in found.items()},
        configs,
        kafka.topic_prefix,
        topic_specs(around.settings.topics),
    )
    for each in differences:
        says = f"{each.topic}: {each.setting} is {each.found}, not {each.expected}"
        if each.essential:
            yield fail(f"{says}; an engine refuses to start", _remedy(each, kafka.bootstrap))
        else:
            yield warn(f"{says}; it works, later or at more cost", _remedy(each, kafka.bootstrap))
    if found and not differences and not unseen:
        yield ok(f"{len(found)} of {len(ALL_TOPICS)} are there, with partitions and settings right")


def copies(around: Surroundings) -> Iterator[Answer]:
    """See whether each partition has a leader and copies enough, and may be written to."""
    cluster = around.cluster
    nodes = len(around.nodes().places)
    configs = _configs(around)
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
        for what, partitions in (("no leader", leaderless), ("too few copies in sync", thin)):
            if partitions:
                yield fail(
                    f"{name}: partitions {', '.join(map(str, sorted(partitions)))} have {what}: "
                    "nothing can be written to them",
                    "bring the brokers back that are down",
                )
        if few < min(nodes, _COPIES_SAFE):
            yield warn(
                f"{name}: {few} of {nodes} brokers have a copy; a lost broker takes it along",
                "kafka-reassign-partitions, to 3 copies; kafka.replication_factor is for new ones",
            )
        elif few >= _COPIES_SAFE and wanted == 1:
            yield warn(
                f"{name}: a record counts when one of {few} copies has it",
                _alter(name, "min.insync.replicas", "2", around.settings.kafka.bootstrap),
            )
        healthy = healthy and not leaderless and not thin and few >= min(nodes, _COPIES_SAFE)
    yield from _behind(around, behind)
    if cluster.described and healthy and not behind:
        yield ok("every partition has a leader, and its copies are in sync")


def _out_of_sync(partition: Mapping[str, Any]) -> _Behind | None:
    """Return which copies of a partition do not have all of it; None: all do."""
    out = {*partition["replica_nodes"]} - {*partition["isr_nodes"]}
    return _Behind(tuple(sorted(out)), len(partition["replica_nodes"])) if out else None


def _behind(around: Surroundings, behind: Mapping[_Behind, int]) -> Iterator[Answer]:
    """Tell copies that are not in sync though records are taken, and whose they are."""
    answering = around.nodes().answering
    for (brokers, copies_wanted), partitions in sorted(behind.items()):
        gone = [number for number in brokers if number not in answering]
        why = f"{named_brokers(gone or brokers)} {'gone or silent' if gone else 'behind'}"
        remedy = (
            "see: broker; when it is back it copies what it missed"
            if gone
            else "look again in a minute; if it stays, look at the log of the broker and its disk"
        )
        yield warn(
            f"{len(brokers)} of {copies_wanted} copies of {counted(partitions, 'partition')} "
            f"{'is' if len(brokers) == 1 else 'are'} not in sync: {why}",
            remedy,
        )


def _configs(around: Surroundings) -> dict[str, dict[str, str]]:
    """Return all settings in force of the topics that are there and may be seen, by suffix."""
    names = {topic["name"]: suffix for suffix, topic in around.cluster.described.items()}
    configs = configs_of(around.cluster.admin, list(names))
    return {names[name]: settings for name, settings in configs.items()}


def _remedy(difference: TopicDifference, bootstrap: str) -> str:
    """Return how to put one setting right."""
    if difference.setting == "partitions":
        return (
            f"set topics.{_partitions_key(difference.topic)} to {difference.found}, or start anew "
            "under another kafka.topic_prefix and with another engine.checkpoint"
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
