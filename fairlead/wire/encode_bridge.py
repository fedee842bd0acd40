"""What bridges write, as bytes: the route of a topic, what a group asked for, a sign of life."""

from collections.abc import Sequence

import orjson

from fairlead.core.outputs import ENTRIES_PER_PART
from fairlead.core.records import (
    BridgeSign,
    OffsetsKnown,
    QueueOffsets,
    RouteChanged,
    TopicAbsent,
)
from fairlead.wire.bodies import broker_body, queue_offsets_body
from fairlead.wire.encode import OversizeError, record_bytes
from fairlead.wire.raw import OutgoingRecord
from fairlead.wire.topics import TopicNames

__all__ = ["encode_absent", "encode_offsets", "encode_route", "encode_sign"]


def encode_route(changed: RouteChanged, names: TopicNames) -> OutgoingRecord:
    """Return the whole route of a topic; None deletes it.

    A topic of so many queues that its leaders and zones do not fit is written without them.

    Raises:
        OversizeError: it does not fit even so.
    """
    value = None
    if changed.route is not None:
        try:
            value = _route_value(changed, detailed=True)
        except OversizeError:
            value = _route_value(changed, detailed=False)
    return OutgoingRecord(names.name("routes"), 0, changed.topic.encode(), value)


def _route_value(changed: RouteChanged, *, detailed: bool) -> bytes:
    route = changed.route
    assert route is not None, "a deletion has no value"
    return record_bytes(
        "route",
        {
            "topic": route.topic,
            "identity": route.identity,
            "order_topic_conf": route.order_topic_conf,
            "brokers": [broker_body(broker, detailed=detailed) for broker in route.brokers],
        },
    )


def encode_offsets(known: OffsetsKnown, names: TopicNames) -> list[OutgoingRecord]:
    """Return what a bridge knows of queues of one topic, in as many records as it takes."""
    if len(known.queues) <= ENTRIES_PER_PART:
        shares = [(_key(known), known.queues)]
    else:
        firsts = range(0, len(known.queues), ENTRIES_PER_PART)
        shares = [
            (_key(known, part), known.queues[first : first + ENTRIES_PER_PART])
            for part, first in enumerate(firsts)
        ]
    return [
        OutgoingRecord(names.name("offsets"), 0, key, _offsets_value(known, queues))
        for key, queues in shares
    ]


def encode_absent(absent: TopicAbsent, names: TopicNames) -> OutgoingRecord:
    """Return that a cluster does not have a topic, in the place of its offsets for the group."""
    value = record_bytes(
        "absent",
        {"group": absent.group, "topic": absent.topic, "cluster": absent.cluster},
    )
    return OutgoingRecord(names.name("offsets"), 0, _key(absent), value)


def encode_sign(sign: BridgeSign, names: TopicNames) -> OutgoingRecord:
    """Return what a bridge says of itself; each such record of a cluster replaces the one before.

    So however long bridges run, the compacted topic holds one for each cluster.
    """
    value = record_bytes(
        "bridge",
        {
            "cluster": sign.cluster,
            "bridge": sign.bridge,
            "state": sign.state,
            "every_ms": sign.every_ms,
        },
    )
    return OutgoingRecord(names.name("offsets"), 0, orjson.dumps([sign.cluster]), value)


def _key(known: OffsetsKnown | TopicAbsent, *part: int) -> bytes:
    return orjson.dumps([known.topic, known.group, *part])


def _offsets_value(known: OffsetsKnown, queues: Sequence[QueueOffsets]) -> bytes:
    return record_bytes(
        "offsets",
        {
            "group": known.group,
            "topic": known.topic,
            "identity": known.identity,
            "queues": [queue_offsets_body(entry) for entry in queues],
        },
    )
