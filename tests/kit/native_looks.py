"""Looks at native groups, made by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairlead.core.model import MessageQueue
from fairlead.native.group_look import FROZEN, GroupLook, MemberLook, queue_looks

AVG = "AllocateMessageQueueAveragely"
"""RocketMQ's usual strategy."""


def queues(number: int, topic: str = "orders") -> list[MessageQueue]:
    """Return the queues of a topic."""
    return [MessageQueue(topic, "main", each) for each in range(number)]


def look(
    owned: Mapping[str, Sequence[int]],
    number: int = 8,
    lag: Mapping[int, int] | None = None,
    **other: Any,
) -> GroupLook:
    """Return a group of one topic; ``owned``: member -> the numbers of its queues."""
    held = queues(number)
    members = tuple(
        MemberLook(name, f"app-{name}", "10.0.0.1", ("orders",), tuple(held[each] for each in owns))
        for name, owns in owned.items()
    )
    ends = {held[each]: 10_000 for each in range(number)}
    committed = {held[each]: 10_000 - (lag or {}).get(each, 0) for each in range(number)}
    values: dict[str, Any] = {
        "protocol": "classic",
        "shares": True,
        "state": "Stable",
        "settled": True,
        "assignors": ("range",),
        "topics": frozenset(("orders",)),
        **other,
    }
    return GroupLook(
        "g", "kafka", members=members, queues=queue_looks(members, held, committed, ends), **values
    )


def rocketmq_member(name: str, numbers: Sequence[int], **other: Any) -> MemberLook:
    """Return a member that works on queues of `orders`, of the host before the @ in its id."""
    values: dict[str, Any] = {
        "connections": {"main": ("h:1",)},
        "filters": {"orders": "*"},
        "assignor": AVG,
        "version": "V4_9_8",
        **other,
    }
    owns = tuple(MessageQueue("orders", "main", each) for each in numbers)
    return MemberLook(name, name, name.partition("@")[0], ("orders",), owns, **values)


def frozen(name: str) -> MemberLook:
    """Return a member that does not answer."""
    return rocketmq_member(name, [], silence=FROZEN, filters=None, assignor=None, version=None)


def rocketmq_look(*members: MemberLook, number: int = 4, protocol: str = "clustering") -> GroupLook:
    """Return a group that reads so many queues of `orders`, each with 10 messages waiting."""
    held = queues(number)
    return GroupLook(
        group="g",
        kind="rocketmq",
        protocol=protocol,
        shares=protocol == "clustering",
        assignors=tuple(sorted({each.assignor for each in members if each.assignor})),
        members=members,
        queues=queue_looks(members, held, dict.fromkeys(held, 20), dict.fromkeys(held, 30)),
        topics=frozenset(("orders",)) if members else frozenset(),
        knows={"main": frozenset(each.member_id for each in members)},
    )


def with_queue(
    seen: GroupLook, queue: MessageQueue, *, committed: int | None, end: int
) -> GroupLook:
    """Return the look with one more queue, or another state of this one; nobody has it."""
    others = tuple(each for each in seen.queues if each.queue != queue)
    owners = [each for each in seen.members if queue in each.owns]
    kept = {} if committed is None else {queue: committed}
    (added,) = (
        each for each in queue_looks(owners, [queue], kept, {queue: end}) if each.queue == queue
    )
    return replace(seen, queues=(*others, added), topics=seen.topics | {queue.topic})


def named(seen: GroupLook, name: str) -> GroupLook:
    """Return the look as one at a group of another name."""
    return replace(seen, group=name)
