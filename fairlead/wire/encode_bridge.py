"""Encodes the records of bridges: routes, offsets, absent topics, members and signs of life."""

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
from fairlead.core.standby_records import MembersLook
from fairlead.wire.bodies import broker_body, queue_offsets_body
from fairlead.wire.encode import OversizeError, record_bytes
from fairlead.wire.raw import OutgoingRecord
from fairlead.wire.topics import TopicNames

__all__ = [
    "encode_absent",
    "encode_members",
    "encode_offsets",
    "encode_route",
    "encode_sign",
    "withdraw_members",
]


def encode_route(changed: RouteChanged, names: TopicNames) -> OutgoingRecord:
    """Return the whole route of a topic; a route of None deletes it.

    If the leaders and zones of a topic with many queues do not fit, they are left out.

    Raises:
        OversizeError: the route does not fit even then.
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
    """Return a bridge's offsets of one topic, in as many records as needed."""
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
    """Return the answer that a cluster does not have a topic, instead of its offsets."""
    value = record_bytes(
        "absent",
        {"group": absent.group, "topic": absent.topic, "cluster": absent.cluster},
    )
    return OutgoingRecord(names.name("offsets"), 0, _key(absent), value)


def encode_members(look: MembersLook, names: TopicNames) -> OutgoingRecord:
    """Return a look at a group's members; it replaces the one before of that cluster and group.

    Raises:
        OversizeError: the group has too many members for one record.
    """
    value = record_bytes(
        "members",
        {
            "group": look.group,
            "cluster": look.cluster,
            "bridge": look.bridge,
            "look": look.look,
            "complete": look.complete,
            "brokers": [
                {"broker_name": broker_name, "members": [*members]}
                for broker_name, members in look.brokers
            ],
            "at_ms": look.at_ms,
        },
    )
    return withdraw_members(look.cluster, look.group, names)._replace(value=value)


def withdraw_members(cluster: str, group: str, names: TopicNames) -> OutgoingRecord:
    """Return the record that withdraws what a cluster's bridge has told of a group's members."""
    key = orjson.dumps([cluster, "members", group])
    return OutgoingRecord(names.name("offsets"), 0, key, None)


def encode_sign(sign: BridgeSign, names: TopicNames) -> OutgoingRecord:
    """Return a bridge's sign of life; it replaces the one before of the same cluster.

    So the compacted topic holds only one for each cluster.
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
