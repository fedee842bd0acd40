"""The strategy that shares queues as a native group's assignor does, and its shares.

Kafka's range is RocketMQ's AVG: contiguous blocks of each topic over the sorted ids of its
subscribers (RangeAssignor#assign). The sticky ones and the coordinator's uniform keep owners; their
exact answers depend on what members remember, so STICKY stands for them. Other strategies of
RocketMQ have options that nobody can see from outside.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from fairlead.core.allocation import AllocationRequest, Candidate, Strategy
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order
from fairlead.native.group_look import GroupLook, Kind
from fairlead.native.round_robin import RoundRobin
from strategies.registry import STRATEGIES

__all__ = ["computed_apart", "shape_of", "shares_by"]

_SHAPES: Final[Mapping[tuple[Kind, str], Strategy]] = {
    ("kafka", "range"): STRATEGIES["AVG"],
    ("kafka", "roundrobin"): RoundRobin(),
    ("kafka", "sticky"): STRATEGIES["STICKY"],
    ("kafka", "cooperative-sticky"): STRATEGIES["STICKY"],
    ("kafka", "uniform"): STRATEGIES["STICKY"],
    ("rocketmq", "AllocateMessageQueueAveragely"): STRATEGIES["AVG"],
    ("rocketmq", "AllocateMessageQueueAveragelyByCircle"): STRATEGIES["AVG_BY_CIRCLE"],
}
"""Data plane and assignor -> the strategy with its shape."""


def shape_of(look: GroupLook) -> Strategy | None:
    """Return the strategy with the shape of the group's assignor; None: unknown, or several."""
    if len(look.assignors) != 1:
        return None
    return _SHAPES.get((look.kind, look.assignors[0]))


def computed_apart(look: GroupLook) -> Strategy | None:
    """Return the strategy by which each member computes its own share, of what all should see.

    None: one member shares out for all (Kafka), the strategy is not known, or the result cannot be
    compared, because nobody knows who works on what.
    """
    return shape_of(look) if look.kind == "rocketmq" and look.is_told else None


def shares_by(
    strategy: Strategy,
    look: GroupLook,
    ids: Iterable[str],
    owners: Mapping[MessageQueue, str],
) -> dict[MessageQueue, str]:
    """Return whom a strategy gives each subscribed queue.

    Args:
        strategy: what shares the queues.
        look: the group.
        ids: who is there. An id with blanks around that of a member is a new member with the
            same subscription.
        owners: who has which queue now.
    """
    by_topic: dict[str, list[MessageQueue]] = {}
    for each in look.subscribed:
        by_topic.setdefault(each.queue.topic, []).append(each.queue)
    present = set(ids)
    if not present:
        return {}
    answer = strategy.allocate(
        AllocationRequest(
            group="",
            candidates=tuple(
                Candidate(each, _topics(look, each, frozenset(by_topic)))
                for each in sorted(present, key=java_order)
            ),
            queues={topic: tuple(each) for topic, each in by_topic.items()},
            owners={queue: owner for queue, owner in owners.items() if owner in present},
            # RebalanceImpl#rebalanceByTopic takes all ids of the group.
            slots="group" if look.kind == "rocketmq" else "subscribers",
        )
    )
    return {
        queue: member_id
        for shares in answer.topics.values()
        for member_id, held in shares.items()
        for queue in held
    }


def _topics(look: GroupLook, member_id: str, every: frozenset[str]) -> frozenset[str]:
    like = member_id.strip()
    told = next((each.topics for each in look.members if each.member_id == like), None)
    return every if told is None else frozenset(told)
