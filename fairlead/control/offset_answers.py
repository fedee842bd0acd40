"""What groups wait for of a topic whose route was put by hand: answered by whoever puts it.

Without a bridge nobody reads requests. So each put looks at what was asked of its topic lately: the
engine asks again, after 16 s at the latest, for as long as it waits. Bounds come from what
RocketMQ's own tool prints, or from Kafka, if the messages are there; what nobody has told stays
open, and is never taken for 0.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from fairlead.bridges.kafka.answer import OffsetLookup, answer, asked_partitions
from fairlead.bridges.kafka.committed import Committed
from fairlead.bridges.kafka.data_cluster import DataCluster
from fairlead.bridges.kafka.snapshot import TopicSeen
from fairlead.core.model import Route, RouteBroker
from fairlead.core.outputs import Request
from fairlead.core.records import OffsetsKnown, QueueOffsets
from fairlead.kafka.partition_reading import partitions_of, read_to_end
from fairlead.settings import KafkaSettings
from fairlead.wire.decode import decode_request
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import raw_record
from fairlead.wire.topics import TopicNames

__all__ = [
    "OffsetAnswers",
    "StatusError",
    "answer_requests",
    "data_cluster",
    "kafka_lookup",
    "recent_requests",
    "topic_status_lookup",
]

LookUp = Callable[[str, Request, list[int]], OffsetLookup]
"""Tells of a broker's queues what is known for a request."""

_LOOK_BACK_MS: Final = 60_000
_TIMEOUT_MS: Final = 5_000
_ATTEMPTS: Final = 10
_PAUSE_SECONDS: Final = 0.3
_PERM_READ: Final = 4
_FIELDS: Final = 4
"""Of a line of topicStatus that count: broker name, queue id, least and next offset."""
_NOTHING: Final = Committed(-1, "")


class StatusError(ValueError):
    """A line is none of topicStatus; the message says which and why."""


class OffsetAnswers(NamedTuple):
    """What is to be written, and of how many queues each group goes on waiting for the bounds."""

    records: tuple[OffsetsKnown, ...]
    left: Mapping[str, int]


def recent_requests(kafka: KafkaSettings, topic: str) -> list[Request]:
    """Return what groups have asked of a topic in the last minute: of each the newest word.

    Raises:
        EnvironmentMissingError: the topic of requests cannot be read.
    """
    name = TopicNames(kafka.topic_prefix).name("requests")
    since_ms = int(time.time() * 1_000) - _LOOK_BACK_MS
    newest: dict[tuple[str, str], Request] = {}
    for record in read_to_end(kafka, name, range(partitions_of(kafka, name)), since_ms):
        try:
            request = decode_request(raw_record(record), WireLimits(1))
        except WireError:
            # Nobody but the engine may write here; a bridge would pass it over too.
            continue
        if request.topic == topic:
            newest[request.group, request.what] = request
    return list(newest.values())


def topic_status_lookup(text: str) -> LookUp:
    """Return the bounds that `mqadmin topicStatus` prints, of which no group has committed any.

    Raises:
        StatusError: a line is none of topicStatus.
    """
    bounds: dict[str, dict[int, tuple[int, int]]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        broker_name, *told = line.split()[:_FIELDS]
        digits = [each for each in told if each.isascii() and each.isdigit()]
        if len(digits) != _FIELDS - 1 or int(digits[1]) > int(digits[2]):
            raise StatusError(f"line {number}: it is no broker, queue, least and next offset")
        queue_id, least, end = map(int, digits)
        bounds.setdefault(broker_name, {})[queue_id] = (least, end)

    def look_up(broker_name: str, _request: Request, queue_ids: list[int]) -> OffsetLookup:
        known = bounds.get(broker_name, {})
        return OffsetLookup(
            {each: known[each][0] for each in queue_ids if each in known},
            {each: known[each][1] for each in queue_ids if each in known},
            committed=dict.fromkeys(queue_ids, _NOTHING),
        )

    return look_up


def kafka_lookup(cluster: DataCluster, route: Route) -> LookUp:
    """Return what a Kafka cluster tells of the topic of that name; nothing if it has none.

    Nor if several brokers share the topic: its messages are not on Kafka then.
    """
    topic, leaders = route.topic, dict[int, int]()
    (seen,) = cluster.look([topic]).looks
    if isinstance(seen, TopicSeen) and len(_readable(route)) == 1:
        told = enumerate(seen.leaders)
        leaders = {number: leader for number, leader in told if leader is not None}

    def look_up(_broker_name: str, request: Request, partitions: list[int]) -> OffsetLookup:
        asked = {each: leaders[each] for each in partitions if each in leaders}
        timestamp_ms = request.consume_timestamp_ms
        if not asked:
            return OffsetLookup()
        times = [] if timestamp_ms is None else [timestamp_ms]
        bounds, for_times = cluster.bounds(topic, asked, times)
        committed = _committed(cluster, request.group, topic, sorted(asked))
        for_time = {} if timestamp_ms is None else for_times[timestamp_ms]
        return OffsetLookup(bounds.earliest, bounds.latest, for_time, committed)

    return look_up


def _committed(
    cluster: DataCluster, group: str, topic: str, partitions: list[int]
) -> dict[int, Committed]:
    """Return what a group committed; a cluster that never had one must make room for it first."""
    for _ in range(_ATTEMPTS):
        if found := cluster.committed(group, topic, partitions):
            return found
        time.sleep(_PAUSE_SECONDS)
    return {}


def data_cluster(kafka: KafkaSettings, options: Mapping[str, Any]) -> DataCluster:
    """Return the cluster of Fairlead's topics as one that may have the messages too."""
    return DataCluster(kafka.bootstrap, timeout_ms=_TIMEOUT_MS, options=options)


def answer_requests(requests: Iterable[Request], route: Route, look_up: LookUp) -> OffsetAnswers:
    """Return the answer to each request for offsets, by what is known of each broker's queues."""
    records: list[OffsetsKnown] = []
    left: dict[str, int] = {}
    for request in requests:
        if request.what != "offsets":
            continue
        queues: list[QueueOffsets] = []
        for broker in _readable(route):
            wanted = asked_partitions(request, route, broker.broker_name)
            lookup = look_up(broker.broker_name, request, wanted)
            found = answer(request, route.identity, broker.broker_name, wanted, lookup)
            queues += [] if found.record is None else found.record.queues
            left[request.group] = left.get(request.group, 0) + len(found.left)
        if queues:
            known = OffsetsKnown(request.group, route.topic, route.identity, tuple(queues))
            records.append(known)
    return OffsetAnswers(
        tuple(records), {group: number for group, number in left.items() if number}
    )


def _readable(route: Route) -> list[RouteBroker]:
    return [broker for broker in route.brokers if broker.perm & _PERM_READ]
