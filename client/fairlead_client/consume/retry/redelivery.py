"""Where a failed message goes: to its next attempt or to the dead-letter topic.

A message that comes back keeps its key, body and headers. More headers say where it came from
first, how often it came back, and when it is due.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fairlead_client.consume.retry.delay_level import delay_ms, level_of
from fairlead_client.message import Message
from fairlead_client.model import Queue
from fairlead_client.session.topic_names import dead_letter_topic, retry_topic

MAX_RECONSUME_TIMES: Final = 16
"""DefaultMQPushConsumerImpl#getMaxReconsumeTimes: -1 means 16, and no limit for ordered groups."""
BY_DEFAULT: Final = -1
PREFIX: Final = "fairlead-"
RECONSUME_TIMES: Final = "fairlead-reconsume-times"
ORIGIN_TOPIC: Final = "fairlead-origin-topic"
ORIGIN_BROKER: Final = "fairlead-origin-broker"
ORIGIN_QUEUE_ID: Final = "fairlead-origin-queue-id"
ORIGIN_OFFSET: Final = "fairlead-origin-offset"
ORIGIN_TIMESTAMP: Final = "fairlead-origin-timestamp-ms"
ORIGIN_MESSAGE_ID: Final = "fairlead-origin-message-id"
DELAY_LEVEL: Final = "fairlead-delay-level"
DUE: Final = "fairlead-due-ms"
OURS: Final = frozenset(
    {
        *(RECONSUME_TIMES, ORIGIN_TOPIC, ORIGIN_BROKER, ORIGIN_QUEUE_ID, ORIGIN_OFFSET),
        *(ORIGIN_TIMESTAMP, ORIGIN_MESSAGE_ID, DELAY_LEVEL, DUE),
    }
)
Headers = Sequence[tuple[str, bytes | None]]
"""A header's value may be null on Kafka, although kafka-python's type says otherwise."""


@dataclass(frozen=True, slots=True)
class Redelivery:
    """The headers of a message that came back.

    Attributes:
        reconsume_times: how often it came back, including this time (getReconsumeTimes).
        origin: the queue it came from first, of its real topic.
        origin_offset: its offset there.
        origin_timestamp_ms: when it was created, in ms since 1970.
        delay_level: its delay level; None in a dead-letter topic.
        due_ms: when it is due, in ms since 1970 by the sender's clock; None in a dead-letter
            topic.
    """

    reconsume_times: int
    origin: Queue
    origin_offset: int
    origin_timestamp_ms: int
    delay_level: int | None = None
    due_ms: int | None = None

    @property
    def message_id(self) -> str:
        """The message's name, the same at every attempt (ORIGIN_MESSAGE_ID)."""
        return f"{self.origin.topic}-{self.origin.queue_id}@{self.origin_offset}"


@dataclass(frozen=True, slots=True)
class SentBack:
    """Where a failed message goes, and with which headers.

    Attributes:
        topic: the group's retry topic, or its dead-letter topic.
        headers: all headers, the application's first; a null value becomes empty, because
            kafka-python's producer takes no null.
        value: the body; empty instead of null if the key is null too, for the same reason.
        redelivery: the meaning of our headers.
    """

    topic: str
    headers: tuple[tuple[str, bytes], ...]
    value: bytes | None
    redelivery: Redelivery

    @property
    def is_dead(self) -> bool:
        """Whether it goes to the dead-letter topic."""
        return self.redelivery.delay_level is None


def redelivery_of(headers: Headers) -> Redelivery | None:
    """Return what the headers say of a message that came back; None if it did not come back.

    Of two headers with one name the last one counts. A header without a value does not count.
    """
    values = {name: value for name, value in headers if name in OURS and value is not None}
    try:
        return Redelivery(
            _number(values[RECONSUME_TIMES]),
            Queue(
                values[ORIGIN_TOPIC].decode(),
                values[ORIGIN_BROKER].decode(),
                _number(values[ORIGIN_QUEUE_ID]),
            ),
            _number(values[ORIGIN_OFFSET]),
            _number(values[ORIGIN_TIMESTAMP]),
            None if DELAY_LEVEL not in values else _number(values[DELAY_LEVEL]),
            None if DUE not in values else _number(values[DUE]),
        )
    except (KeyError, ValueError):
        return None


def reconsume_limit(max_reconsume_times: int, *, ordered: bool) -> int | None:
    """Return how often a message may come back; None: without limit.

    Args:
        max_reconsume_times: the application's choice; -1: 16, and no limit for ordered groups.
        ordered: whether the group consumes in order.
    """
    if max_reconsume_times != BY_DEFAULT:
        return max_reconsume_times
    return None if ordered else MAX_RECONSUME_TIMES


def send_back(
    message: Message, attempt: int, delay: int, *, group: str, limit: int | None, now_ms: int
) -> SentBack:
    """Decide where a failed message goes.

    Source: AbstractSendMessageProcessor#consumerSendMsgBack (5.x). A message goes to the
    dead-letter topic after a negative delay level, or after all allowed attempts.

    Args:
        message: the message, as the consumer handed it out.
        attempt: how often this consumer has handed it out, including the failed time.
        delay: RocketMQ's delay level; 0: by the number of attempts; negative: no more attempts.
        group: the group that failed to consume it.
        limit: how often it may come back; None: without limit.
        now_ms: the time in ms since 1970.
    """
    before = None
    if message.queue.topic == retry_topic(group):
        # On any other topic the headers count another group's attempts.
        before = redelivery_of(message.headers)
    times = (0 if before is None else before.reconsume_times) + attempt - 1
    origin = (message.queue, message.offset, message.timestamp_ms)
    if before is not None:
        origin = (before.origin, before.origin_offset, before.origin_timestamp_ms)
    if delay < 0 or (limit is not None and times >= limit):
        topic, redelivery = dead_letter_topic(group), Redelivery(times, *origin)
    else:
        level = level_of(times, delay)
        topic = retry_topic(group)
        redelivery = Redelivery(times + 1, *origin, level, now_ms + delay_ms(level))
    own = tuple((name, value or b"") for name, value in message.headers if name not in OURS)
    value = b"" if message.key is None and message.value is None else message.value
    return SentBack(topic, (*own, *_headers(redelivery)), value, redelivery)


def _headers(redelivery: Redelivery) -> tuple[tuple[str, bytes], ...]:
    values = {
        RECONSUME_TIMES: redelivery.reconsume_times,
        ORIGIN_TOPIC: redelivery.origin.topic,
        ORIGIN_BROKER: redelivery.origin.broker_name,
        ORIGIN_QUEUE_ID: redelivery.origin.queue_id,
        ORIGIN_OFFSET: redelivery.origin_offset,
        ORIGIN_TIMESTAMP: redelivery.origin_timestamp_ms,
        ORIGIN_MESSAGE_ID: redelivery.message_id,
        DELAY_LEVEL: redelivery.delay_level,
        DUE: redelivery.due_ms,
    }
    return tuple((name, str(value).encode()) for name, value in values.items() if value is not None)


def _number(value: bytes) -> int:
    """Return a header's number.

    Raises:
        ValueError: it is no number, or negative.
    """
    text = value.decode("ascii")
    if not text.isdigit():
        raise ValueError(text)
    return int(text)
