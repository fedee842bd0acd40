"""Members of Kafka's groups, from the coordinator's answers of both protocols.

What a member wrote about itself is a stranger's: what cannot be decoded counts as unknown, and
spoils nothing beside it.
"""

import struct
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from fairlead_client.session.topic_names import named_topic
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from fairlead.core.model import MessageQueue
from fairlead.core.ordering import queue_order
from fairlead.native.group_look import MemberLook

__all__ = ["Described", "classic_group", "kip848_group"]

_BROKEN: Final = (struct.error, ValueError, IndexError, TypeError, KeyError, AttributeError)
"""What kafka-python raises over bytes that are no subscription or assignment."""


class Described(NamedTuple):
    """A group as its coordinator describes it; ``unread``: what nobody could decode."""

    state: str
    assignor: str | None
    generation: int | None
    members: tuple[MemberLook, ...]
    unread: str | None = None


def classic_group(group: Mapping[str, Any], broker_name: str) -> Described:
    """Return a group from Kafka's DescribeGroups; it tells no generation."""
    members, broken = [], 0
    for each in group["members"]:
        topics, owns = _decoded(each, broker_name)
        # A coordinator tells no metadata during a rebalance: that is not broken.
        broken += (topics is None and bool(each["member_metadata"])) or owns is None
        members.append(_member(each, "group_instance_id", topics, owns or ()))
    unread = f"{broken} of {len(members)} members say what nobody can decode" if broken else None
    assignor = group["protocol_data"] or None
    return Described(group["group_state"], assignor, None, _sorted(members), unread)


def kip848_group(group: Mapping[str, Any], broker_name: str) -> Described:
    """Return a group from Kafka's ConsumerGroupDescribe; its epoch is the generation."""
    members = [
        _member(
            each,
            "instance_id",
            tuple(sorted(map(named_topic, each["subscribed_topic_names"]))) or None,
            _queues(
                broker_name,
                (
                    (one["topic_name"], one["partitions"])
                    for one in each["assignment"]["topic_partitions"]
                ),
            ),
        )
        for each in group["members"]
    ]
    assignor = group["assignor_name"] or None
    return Described(group["group_state"], assignor, group["group_epoch"], _sorted(members))


def _member(
    each: Mapping[str, Any],
    instance: str,
    topics: tuple[str, ...] | None,
    owns: tuple[MessageQueue, ...],
) -> MemberLook:
    host = each["client_host"].lstrip("/")
    return MemberLook(each["member_id"], each["client_id"], host, topics, owns, each.get(instance))


def _decoded(
    each: Mapping[str, Any], broker_name: str
) -> tuple[tuple[str, ...] | None, tuple[MessageQueue, ...] | None]:
    """Return a member's topics and queues; None: it is not told, or no one can decode it."""
    topics: tuple[str, ...] | None = None
    owns: tuple[MessageQueue, ...] | None = ()
    try:
        if each["member_metadata"]:
            told = ConsumerProtocolSubscription.decode(each["member_metadata"])
            topics = tuple(sorted({named_topic(topic) for topic in told.topics}))
    except _BROKEN:
        topics = None
    try:
        if each["member_assignment"]:
            given = ConsumerProtocolAssignment.decode(each["member_assignment"])
            owns = _queues(
                broker_name,
                ((one.topic, one.partitions) for one in given.assigned_partitions),
            )
    except _BROKEN:
        owns = None
    return topics, owns


def _queues(
    broker_name: str, topics: Iterable[tuple[str, Iterable[int]]]
) -> tuple[MessageQueue, ...]:
    return tuple(
        sorted(
            {
                MessageQueue(named_topic(topic), broker_name, int(number))
                for topic, numbers in topics
                for number in numbers
            },
            key=queue_order,
        )
    )


def _sorted(members: Iterable[MemberLook]) -> tuple[MemberLook, ...]:
    return tuple(sorted(members, key=lambda each: each.member_id))
