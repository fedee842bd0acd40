"""Name tables: a member key or a queue is written once, everything else refers to it by its row.

Tables are sorted, so the same values give the same rows in whatever order they were met.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from fairlead.core.model import MemberKey, MessageQueue
from fairlead.core.state import GroupState

__all__ = ["keys_of", "plain_queues", "queues_of", "read_queues"]


def keys_of(state: GroupState) -> list[MemberKey]:
    """Return every member key that a state mentions, sorted."""
    keys = {*state.members, *state.tombstones, *state.claims}
    for queue in state.queues.values():
        keys.update(grant.member for grant in queue.grants)
        keys.update(doubt.member for doubt in queue.doubts)
    if state.barrier is not None:
        keys.update(member for _, member in state.barrier.releases)
    keys.update(awaited.member.key for awaited in state.awaited.values())
    if state.standing is not None:
        keys.update((*state.standing.said, *state.standing.formers))
    return sorted(keys)


def queues_of(state: GroupState) -> list[MessageQueue]:
    """Return every queue that a state mentions, sorted."""
    queues = {*state.queues, *state.targets, *state.measures, *state.weights}
    for claims in state.claims.values():
        for part in claims.read.values():
            queues.update(claim.queue for claim in part)
    if state.barrier is not None:
        queues.update(queue for queue, _ in (*state.barrier.releases, *state.barrier.reported))
    return sorted(queues)


def plain_queues(queues: Iterable[MessageQueue]) -> list[Any]:
    """Return sorted queues as runs: [topic, broker_name, [queue_id, …]]."""
    return [
        [topic, broker_name, [queue.queue_id for queue in run]]
        for (topic, broker_name), run in groupby(queues, key=lambda queue: queue[:2])
    ]


def read_queues(runs: list[Any]) -> list[MessageQueue]:
    """Return the queues of the runs, in their order."""
    return [
        MessageQueue(topic, broker_name, queue_id)
        for topic, broker_name, queue_ids in runs
        for queue_id in queue_ids
    ]
