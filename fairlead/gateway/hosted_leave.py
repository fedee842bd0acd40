"""What a hosted session does for a client that leaves: it may work on until somebody takes over.

ADR 0120 gives the reasons.
"""

from collections.abc import Set as AbstractSet

from fairlead_client.model import Epoch, Queue
from fairlead_client.session.memory import WORKING_ON, Memory, QueueMemory
from fairlead_client.session.states import QueueState, SessionState

from fairlead.gateway.poll_words import Poll

__all__ = ["hand_over_ms", "may_stop"]


def hand_over_ms(poll: Poll, told: AbstractSet[tuple[Queue, Epoch]], drain_ms: int) -> int:
    """Return how long a client that leaves may work on, at most; 0: it hands nothing over.

    It will never start what an answer has told it to start, and what it does not name: so it stops.

    Args:
        poll: says that it leaves.
        told: the works whose start the client knows.
        drain_ms: how long the client may take to stop a queue.
    """
    return 0 if poll.ending or not told <= poll.named else drain_ms


def may_stop(memory: Memory, queue: QueueMemory) -> bool:
    """Tell whether the client was asked to stop the queue, or leaves and stops it by itself."""
    hands_over = memory.state is SessionState.LEAVING and queue.state in WORKING_ON
    return hands_over or queue.state is QueueState.DRAINING
