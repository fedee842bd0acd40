"""Taking a queue from its owner, whoever gets it next."""

from fairlead.core.draft import Draft
from fairlead.core.handover.chain import aim
from fairlead.core.model import MessageQueue
from fairlead.core.state import QueueState

__all__ = ["drop_owner"]


def drop_owner(draft: Draft, queue: MessageQueue, value: QueueState) -> None:
    """Set a queue's state, and drop its newest grant if that is wanted: it waits for a target."""
    aimed = aim(value, None, draft.next_epoch(), draft.engine.chain_cap, draft.moment.clock_ms)
    draft.set_queue(queue, aimed.queue)
    if aimed.drop is not None:
        draft.new_epoch()
        draft.command_drop(queue, aimed.drop)
