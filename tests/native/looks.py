"""Looks at native groups, made by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from fairlead.core.model import MessageQueue
from fairlead.native.group_look import GroupLook, MemberLook, queue_looks


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
        "state": "Stable",
        "shares": True,
        "assignor": "range",
        "generation": None,
        **other,
    }
    return GroupLook(
        "g", "kafka", members=members, queues=queue_looks(members, held, committed, ends), **values
    )
