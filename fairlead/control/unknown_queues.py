"""Queues that a rule names and nobody can read now: mostly a mistyped broker name."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from fairlead.core.model import MessageQueue, Route
from fairlead.core.records import RouteChanged, RuleSet
from fairlead.core.topics.routes import readable_queues
from fairlead.kafka.topic_reader import TopicReader
from fairlead.settings import KafkaSettings
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import RawRecord, raw_record
from fairlead.wire.topics import TopicNames

__all__ = ["UnknownQueue", "newest_routes", "read_routes", "unknown_queues"]

_QUEUE_FIELDS = 3
_LIMITS = WireLimits(1)
"""Routes do not depend on the number of shards."""


class UnknownQueue(NamedTuple):
    """An unreadable queue, and how many readable ones each broker of its topic has."""

    queue: MessageQueue
    brokers: dict[str, int]


def unknown_queues(kafka: KafkaSettings, rules: Iterable[RuleSet]) -> list[UnknownQueue]:
    """Return the queues that rules to be set name and that no route has.

    Raises:
        EnvironmentMissingError: the topic of routes cannot be read.
    """
    named = dict.fromkeys(
        MessageQueue(rule.subject[0], rule.subject[1], int(rule.subject[2]))
        for rule in rules
        if rule.value is not None and len(rule.subject) == _QUEUE_FIELDS
    )
    if not named:
        return []
    routes = read_routes(kafka, {queue.topic for queue in named})
    strange = []
    for queue in named:
        route = routes.get(queue.topic)
        readable = () if route is None else readable_queues(route)
        if queue not in readable:
            brokers = [each.broker_name for each in readable]
            strange.append(UnknownQueue(queue, {name: brokers.count(name) for name in brokers}))
    return strange


def read_routes(kafka: KafkaSettings, topics: Collection[str] | None = None) -> dict[str, Route]:
    """Return the newest route of each topic; an unreadable record counts as none.

    ``topics``: only these; None: all.

    Raises:
        EnvironmentMissingError: the topic of routes cannot be read.
    """
    name = TopicNames(kafka.topic_prefix).name("routes")
    with TopicReader(kafka) as reader:
        parts = range(reader.partition_counts([name])[name])
        return newest_routes(map(raw_record, reader.read_to_end(name, parts)), topics)


def newest_routes(
    rows: Iterable[RawRecord], topics: Collection[str] | None = None
) -> dict[str, Route]:
    """Return the newest route of each topic, from the records of the routes topic.

    ``topics``: only these; None: all.
    """
    routes: dict[str, Route] = {}
    for row in rows:
        try:
            changed = decode("routes", row, _LIMITS)
        except WireError:
            continue
        if not isinstance(changed, RouteChanged):
            continue
        if topics is not None and changed.topic not in topics:
            continue
        if changed.route is None:
            routes.pop(changed.topic, None)
        else:
            routes[changed.topic] = changed.route
    return routes
