"""What an application says about a batch that it was given to consume."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from fairlead_client.consume.pull.failed_messages import BY_ATTEMPT
from fairlead_client.consume.pull.messages import Messages
from fairlead_client.model import Queue

ACK_ALL: Final = 2**31 - 1
"""Beyond every batch; ConsumeConcurrentlyContext's ackIndex begins with it, too."""
SUSPEND_MS: Final = 1_000


class ConsumeResult(Enum):
    """How consuming a batch ended; an exception, or anything else, is as if it had failed."""

    CONSUME_SUCCESS = "consume_success"
    RECONSUME_LATER = "reconsume_later"
    """Concurrently: all of the batch is sent back. In order: the same as to suspend."""
    SUSPEND_CURRENT_QUEUE_A_MOMENT = "suspend_current_queue_a_moment"
    """In order: the batch comes again after a moment, and nothing of its queue before it."""


@dataclass(slots=True)
class ConsumeContext:
    """What goes with a batch; a listener may change all but the first two.

    What is no whole number afterwards is as if it had not been changed, and logged.

    Attributes:
        queue: the queue of the batch.
        attempt: how often this client has handed the batch out, this time included.
        ack_index: concurrently, the index of the last message that is consumed when the result is
            CONSUME_SUCCESS: those behind it failed; -1: all of them. With any other result all
            failed (RocketMQ's ConsumeMessageConcurrentlyService#processConsumeResult).
        delay: the delay level of messages that are sent back: 0 grows with the attempts, -1 is
            the dead-letter topic at once.
        suspend_ms: how long a queue is suspended.
    """

    queue: Queue
    attempt: int
    ack_index: int = ACK_ALL
    delay: int = BY_ATTEMPT
    suspend_ms: int = SUSPEND_MS


Listener = Callable[[Messages, ConsumeContext], ConsumeResult | None]
"""Called on one of the consumer's threads, with one batch of one queue."""

QueueListener = Callable[[str, Sequence[Queue], Sequence[Queue]], object]
"""`message_queue_changed(topic, all, mine)`: be quick, others are told after it returned."""
