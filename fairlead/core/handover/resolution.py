"""Putting in place what a release, an answer, progress or a lapse resolves of one queue."""

from fairlead.core.draft import Draft
from fairlead.core.handover.chain import Resolved
from fairlead.core.model import MessageQueue

__all__ = ["apply_resolution"]


def apply_resolution(draft: Draft, queue: MessageQueue, ended: Resolved) -> None:
    """Set a queue to its state after grants ended, and note whose add must be written again.

    A barrier writes no add: its end decides about every grant.
    """
    draft.set_queue(queue, ended.queue)
    draft.resolved(queue, ended.grants, ended.queue.base)
    if ended.granted is not None and draft.state.barrier is None:
        draft.shortened[queue] = None
