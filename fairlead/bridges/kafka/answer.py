"""Builds the answer to a request for offsets from the results of look-ups.

A queue gets an entry only if everything requested for it is known; other queues stay unanswered.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairlead.bridges.answer import Answer
from fairlead.bridges.kafka.committed import Committed, read_committed
from fairlead.core.model import MessageQueue, Route
from fairlead.core.outputs import Request
from fairlead.core.records import OffsetsKnown, QueueOffsets

__all__ = ["OffsetLookup", "answer", "asked_partitions"]

_NO_SUCH_MESSAGE = -1


@dataclass(frozen=True, slots=True)
class OffsetLookup:
    """The cluster's offsets, per partition, without partitions whose look-up failed.

    ``for_time``: the first offset whose message is not older than the timestamp; −1 if there is
    none. It must be looked up after ``latest``: see :func:`answer`.
    """

    earliest: Mapping[int, int] = field(default_factory=dict)
    latest: Mapping[int, int] = field(default_factory=dict)
    for_time: Mapping[int, int] = field(default_factory=dict)
    committed: Mapping[int, Committed] = field(default_factory=dict)


def asked_partitions(request: Request, route: Route, cluster: str) -> list[int]:
    """Return the existing partitions that a request asks for, in order.

    Queues of other clusters, of other topics and beyond the topic's last partition are left out.
    """
    queues = sum(
        broker.read_queue_nums for broker in route.brokers if broker.broker_name == cluster
    )
    if request.queues is None:
        return list(range(queues))
    return sorted(
        {
            queue.queue_id
            for queue in request.queues
            if queue.topic == request.topic
            and queue.broker_name == cluster
            and 0 <= queue.queue_id < queues
        }
    )


def answer(
    request: Request, identity: str, cluster: str, partitions: list[int], lookup: OffsetLookup
) -> Answer:
    """Return the answer for these partitions of one identity of a topic.

    If no message is as young as the timestamp, its offset is the partition's end. The end must be
    looked up first: a message written between the two look-ups may be young enough, and must not be
    skipped. For the same reason the offset may lie beyond the looked-up end; then the end is at
    least there.
    """
    entries: list[QueueOffsets] = []
    left: list[MessageQueue] = []
    for partition in partitions:
        queue = MessageQueue(request.topic, cluster, partition)
        entry = _entry(queue, identity, request.consume_timestamp_ms, lookup)
        if entry is None:
            left.append(queue)
        else:
            entries.append(entry)
    known = (
        OffsetsKnown(request.group, request.topic, identity, tuple(entries)) if entries else None
    )
    return Answer(known, tuple(left))


def _entry(
    queue: MessageQueue, identity: str, timestamp_ms: int | None, lookup: OffsetLookup
) -> QueueOffsets | None:
    partition = queue.queue_id
    earliest = lookup.earliest.get(partition)
    latest = lookup.latest.get(partition)
    committed = lookup.committed.get(partition)
    if earliest is None or latest is None or committed is None or not 0 <= earliest <= latest:
        return None
    for_time = None
    if timestamp_ms is not None:
        at_time = lookup.for_time.get(partition)
        if at_time is None:
            return None
        for_time = (timestamp_ms, latest if at_time == _NO_SUCH_MESSAGE else at_time)
        latest = max(latest, at_time + 1)
    position = read_committed(committed, identity)
    return QueueOffsets(queue, earliest, latest, position, for_time)
