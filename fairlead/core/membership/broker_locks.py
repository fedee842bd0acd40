"""The locks that a broker keeps for an ordered consumer that has lapsed (rule H34, ADR 0234).

A broker of RocketMQ gives a queue's lock to one consumer, and keeps it for 60 s after the last
renewal (RebalanceLockManager#REBALANCE_LOCK_MAX_LIVE_TIME). Nobody renews or frees the locks of a
consumer that is dead or stands still, so the next owner would wait for that minute. Once lease and
margin are over the queues are not its own any more, and the engine asks a bridge to free them.
"""

from collections.abc import Iterable

from fairlead.core.draft import Draft
from fairlead.core.model import MessageQueue
from fairlead.core.outputs import Request
from fairlead.core.state import Member

__all__ = ["free_locks"]


def free_locks(draft: Draft, member: Member, queues: Iterable[MessageQueue]) -> None:
    """Ask a bridge to free what the brokers lock for a lapsed member, topic by topic.

    A restarted consumer may have the same id there, and its locks are its own: nobody frees them.
    """
    profile = member.profile
    consumer, others = profile.rocketmq_id, draft.state.members.items()
    if consumer is None or not profile.ordered:
        return
    if any(other.profile.rocketmq_id == consumer for key, other in others if key != member.key):
        return
    by_topic: dict[str, list[MessageQueue]] = {}
    for queue in queues:
        by_topic.setdefault(queue.topic, []).append(queue)
    for topic, locked in sorted(by_topic.items()):
        draft.requests.append(
            Request(draft.state.group, "unlock", topic, tuple(locked), None, consumer)
        )
