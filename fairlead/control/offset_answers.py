"""Answers what groups wait for when an operator puts a route by hand.

Without a bridge nobody reads requests. So each put looks at the recent requests for its topic: the
engine repeats one every 16 s or sooner while it waits. The bounds come from the output of
RocketMQ's own tool, or from Kafka if it has the messages. What nobody has told stays open; it never
counts as 0.
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
"""Returns what is known of a broker's queues for a request."""

_LOOK_BACK_MS: Final = 60_000
_TIMEOUT_MS: Final = 5_000
_ATTEMPTS: Final = 10
_PAUSE_SECONDS: Final = 0.3
_PERM_READ: Final = 4
_FIELDS: Final = 4
"""The fields of a topicStatus line that count: broker name, queue id, least and next offset."""
_NOTHING: Final = Committed(-1, "")


class StatusError(ValueError):
    """A line does not look like topicStatus; the message says which line and why."""


class OffsetAnswers(NamedTuple):
    """The records to write, and for how many queues each group still waits."""

    records: tuple[OffsetsKnown, ...]
    left: Mapping[str, int]


def recent_requests(kafka: KafkaSettings, topic: str) -> list[Request]:
    """Return the requests of the last minute for a topic, the newest of each group and kind.

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
            # Nobody but the engine may write here; a bridge would pass it over as well.
            continue
        if request.topic == topic:
            newest[request.group, request.what] = request
    return list(newest.values())


def topic_status_lookup(text: str) -> LookUp:
    """Return the bounds that `mqadmin topicStatus` prints; no group has committed anything.

    Raises:
        StatusError: a line does not look like topicStatus.
    """
    bounds: dict[str, dict[int, tuple[int, int]]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        broker_name, *told = line.split()[:_FIELDS]
        digits = [each for each in told if each.isascii() and each.isdigit()]
        if len(digits) != _FIELDS - 1 or int(digits[1]) > int(digits[2]):
            raise StatusError(f"line {number}: it is not broker, queue, least and next offset")
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

    It also tells nothing if several brokers share the topic: then the messages are not on Kafka.
    """
    topic, leaders = route.topic, dict[int, int]()
    (seen,) = cluster.look_at([topic]).looks
    if isinstance(seen, TopicSeen) and len(_readable(route)) == 1:
        numbered = enumerate(seen.leaders)
        leaders = {number: leader for number, leader in numbered if leader is not None}

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
    """Return what a group committed; a new cluster must create its offsets topic first."""
    for _ in range(_ATTEMPTS):
        if offsets := cluster.committed(group, topic, partitions):
            return offsets
        time.sleep(_PAUSE_SECONDS)
    return {}


def data_cluster(kafka: KafkaSettings, options: Mapping[str, Any]) -> DataCluster:
    """Return the cluster of Fairlead's topics, which may have the messages too."""
    return DataCluster(kafka.bootstrap, timeout_ms=_TIMEOUT_MS, options=options)


def answer_requests(requests: Iterable[Request], route: Route, look_up: LookUp) -> OffsetAnswers:
    """Return the answer to each request for offsets, from what is known of each broker's queues."""
    records: list[OffsetsKnown] = []
    left: dict[str, int] = {}
    for request in requests:
        if request.what != "offsets":
            continue
        queues: list[QueueOffsets] = []
        for broker in _readable(route):
            wanted = asked_partitions(request, route, broker.broker_name)
            lookup = look_up(broker.broker_name, request, wanted)
            answered = answer(request, route.identity, broker.broker_name, wanted, lookup)
            queues += [] if answered.record is None else answered.record.queues
            left[request.group] = left.get(request.group, 0) + len(answered.left)
        if queues:
            known = OffsetsKnown(request.group, route.topic, route.identity, tuple(queues))
            records.append(known)
    return OffsetAnswers(
        tuple(records), {group: number for group, number in left.items() if number}
    )


def _readable(route: Route) -> list[RouteBroker]:
    return [broker for broker in route.brokers if broker.perm & _PERM_READ]
