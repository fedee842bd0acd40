"""The listener of a PushConsumer: its arguments and its results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from fairlead_client.consume.pull.failed_messages import BY_ATTEMPT
from fairlead_client.consume.pull.messages import Messages
from fairlead_client.model import Queue

ACK_ALL: Final = 2**31 - 1
"""The whole batch; ConsumeConcurrentlyContext's ackIndex has the same default."""
SUSPEND_MS: Final = 1_000


class ConsumeResult(Enum):
    """The result of a batch; an exception or any other value counts as RECONSUME_LATER."""

    CONSUME_SUCCESS = "consume_success"
    """The batch is consumed, up to `context.ack_index`."""
    RECONSUME_LATER = "reconsume_later"
    """Concurrently: send the whole batch back. In order: suspend the queue."""
    SUSPEND_CURRENT_QUEUE_A_MOMENT = "suspend_current_queue_a_moment"
    """In order: the batch comes again after a moment, before anything later of its queue.
    Concurrently: send the whole batch back."""


@dataclass(slots=True)
class ConsumeContext:
    """The context of a batch; the listener may set `ack_index`, `delay` and `suspend_ms`.

    If the listener sets one to anything but a whole number, the consumer logs it and uses the
    default.

    Attributes:
        queue: the queue of the batch.
        attempt: how often this client has handed the batch out, including this time.
        ack_index: concurrently, the index of the last consumed message after CONSUME_SUCCESS; the
            messages behind it failed. -1: all failed. After any other result, all failed
            (RocketMQ's ConsumeMessageConcurrentlyService#processConsumeResult).
        delay: the delay level of messages that are sent back; 0: it grows with the attempts, -1:
            the dead-letter topic at once.
        suspend_ms: how long an ordered queue is suspended, in ms.
    """

    queue: Queue
    attempt: int
    ack_index: int = ACK_ALL
    delay: int = BY_ATTEMPT
    suspend_ms: int = SUSPEND_MS


Listener = Callable[[Messages, ConsumeContext], ConsumeResult | None]
"""`listener(messages, context)`; a consumer's thread calls it with one batch of one queue."""

QueueListener = Callable[[str, Sequence[Queue], Sequence[Queue]], object]
"""`message_queue_changed(topic, all, mine)`; it must be quick, because other topics wait for it."""
