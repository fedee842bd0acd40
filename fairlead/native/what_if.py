"""What a join, a leave or a deploy of a native group would move: by its own shape, and by STICKY.

The group's present owners are the first ones, so what its assignor left behind counts too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from fairlead.core.records import GroupRecord
from fairlead.native.group_look import GroupLook
from fairlead.native.round_robin import RoundRobin
from fairlead.observed.forecast import forecast
from fairlead.observed.planned_group import PlannedGroup
from fairlead.planning.changes import Changes, Join, records_of
from fairlead.planning.group_file import BadGroupError, read_group
from strategies.registry import with_own

__all__ = ["Moves", "WhatIf", "shape_of", "what_if"]

_WORK_MAX: Final = 8_192
"""Members times queues; a greater group is not planned. A deploy is two decisions for each member:
32 members and 256 queues take 1.4 s.
"""

_NEW: Final = "~new"
"""The end of a new member's id: it sorts behind the ids that are there."""

_SHAPES: Final[Mapping[tuple[str, str], str]] = {
    ("kafka", "range"): "AVG",
    ("kafka", "roundrobin"): RoundRobin.name,
    ("kafka", "sticky"): "STICKY",
    ("kafka", "cooperative-sticky"): "STICKY",
    ("kafka", "uniform"): "STICKY",
}
"""Data plane and assignor -> the strategy with its shape.

Kafka's range is RocketMQ's AVG: contiguous blocks of each topic over the sorted ids of its
subscribers (RangeAssignor#assign). The sticky ones and the coordinator's uniform keep owners; their
exact answers depend on what members remember, so STICKY stands for them.
"""


@dataclass(frozen=True, slots=True)
class Moves:
    """How many queues change hands: a member more, the last one less, each one restarted."""

    join: int
    leave: int
    deploy: int

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"join": self.join, "leave": self.leave, "deploy": self.deploy}


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The moves of both; ``own`` None: nobody knows the shape of the group's assignor."""

    shape: str | None
    own: Moves | None
    sticky: Moves

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "shape": self.shape,
            "own": None if self.own is None else self.own.to_json(),
            "sticky": self.sticky.to_json(),
        }


def shape_of(look: GroupLook) -> str | None:
    """Return the name of the strategy with the shape of the group's assignor; None: unknown."""
    if look.plane == "rocketmq":
        return look.assignor
    return _SHAPES.get((look.plane, look.assignor or ""))


def what_if(look: GroupLook) -> WhatIf | None:
    """Return what changes would move; None: the group has no members, or too many."""
    if not look.members or not look.shares or not look.subscribed:
        return None
    if len(look.members) * len(look.queues) > _WORK_MAX:
        return None
    shape = shape_of(look)
    try:
        own = None if shape is None else _moves(_planned(look, shape))
        return WhatIf(shape, own, _moves(_planned(look, "STICKY")))
    except BadGroupError:
        # What a stranger's cluster says need not be a group that the engine could hold.
        return None


def _planned(look: GroupLook, strategy: str) -> PlannedGroup:
    topics: dict[str, dict[str, int]] = {}
    for each in look.queues:
        brokers = topics.setdefault(each.queue.topic, {})
        held = brokers.get(each.queue.broker_name, 0)
        brokers[each.queue.broker_name] = max(held, each.queue.queue_id + 1)
    known = look.topics
    owned: dict[str, list[list[Any]]] = {each.member_id: [] for each in look.members}
    for queue, owner in look.owners().items():
        if queue.topic in known:
            owned[owner].append(list(queue))
    document = {
        "group": look.group,
        "strategy": strategy,
        "members": [
            {
                "client_id": each.member_id,
                "topics": [topic for topic in each.topics or () if topic in topics],
            }
            for each in look.members
        ],
        "topics": topics,
        "owned": owned,
    }
    return read_group(document, with_own({RoundRobin.name: RoundRobin()}))


def _moves(planned: PlannedGroup) -> Moves:
    names = sorted(planned.members)
    joined = _moved(planned, Changes(joins=(_joining(planned, names[0]),)))[0]
    left = _moved(planned, Changes(leaves=(names[-1],)))[0]
    deployed, now = 0, planned
    for name in names:
        joining = _joining(planned, name)
        if len(names) > 1:
            moved, now = _moved(now, Changes(leaves=(name,)))
            deployed += moved
            moved, now = _moved(now, Changes(joins=(joining,)))
        else:
            moved, now = _moved(now, Changes(joins=(joining,), leaves=(name,)))
        deployed += moved
    return Moves(joined, left, deployed)


def _joining(planned: PlannedGroup, like: str) -> Join:
    return Join(f"{like}{_NEW}", tuple(sorted(planned.members[like].topics)))


def _moved(planned: PlannedGroup, changes: Changes) -> tuple[int, PlannedGroup]:
    """Return how many queues lose their holders, and the group after it."""
    records: tuple[GroupRecord, ...] = records_of(planned, changes)
    outcome = forecast(planned, records)
    after = outcome.planned
    return len(outcome.moved(planned)), replace(planned, state=after.owned(after.owners).state)
