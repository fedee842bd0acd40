"""Why a release or progress changes nothing: the word under which it is counted.

A record counts only for an unresolved grant of the same queue, client id, incarnation and epoch
(rule H3). The reason says how late, or how wrong, its sender was.
"""

from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.core.state import GroupState

__all__ = ["FENCED", "FUTURE_EPOCH", "fenced_reason"]

FENCED = "fenced"
"""Counter of releases and progress without effect, by kind and reason."""

FUTURE_EPOCH = "future_epoch"
"""The reason of a record with an epoch that no decision has yet."""


def fenced_reason(state: GroupState, queue: MessageQueue, member: MemberKey, epoch: Epoch) -> str:
    """Return why no unresolved grant of the queue is this member's under this epoch.

    ``not_a_member``: the incarnation lapsed, left or was never heard. ``unknown_queue``: the group
    has no such queue. ``future_epoch``: no decision has this epoch yet. ``other_member``: the grant
    is another member's. ``old_epoch``: there is a newer grant. ``ended``: the grant is resolved,
    most often by this very record, read before.
    """
    value = state.queues.get(queue)
    if member not in state.members:
        return "not_a_member"
    if value is None:
        return "unknown_queue"
    if epoch > state.epoch:
        return FUTURE_EPOCH
    if any(grant.epoch == epoch for grant in value.chain):
        return "other_member"
    if value.chain and epoch < value.chain[0].epoch:
        return "old_epoch"
    return "ended"
