"""What becomes of a message that failed: the next attempt or the dead-letter topic.

A message that comes back is the same message: key, body and headers as they were. Beside them
stand, as headers, where it came from first, how often it came back and when it is due.
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
"""Kafka has null values too, whatever a client library says of their type."""


@dataclass(frozen=True, slots=True)
class Redelivery:
    """What the headers of a message that came back say.

    Attributes:
        reconsume_times: how often it came back, this time included (getReconsumeTimes).
        origin: the queue that it came from first: its real topic.
        origin_offset: its offset there.
        origin_timestamp_ms: when it was made.
        delay_level: how long it was to wait; None in a dead-letter topic.
        due_ms: until when, in ms since 1970 by the clock of whoever sent it back; None as above.
    """

    reconsume_times: int
    origin: Queue
    origin_offset: int
    origin_timestamp_ms: int
    delay_level: int | None = None
    due_ms: int | None = None

    @property
    def message_id(self) -> str:
        """One name of the message, the same at every attempt (ORIGIN_MESSAGE_ID)."""
        return f"{self.origin.topic}-{self.origin.queue_id}@{self.origin_offset}"


@dataclass(frozen=True, slots=True)
class SentBack:
    """Where a failed message goes, and with which headers.

    Attributes:
        topic: the group's retry topic, or its dead-letter topic.
        headers: all of them, those of the application first; a null value is an empty one, since
            Kafka's producer takes no null.
        value: the body; empty where it and the key are null, which the producer does not take.
        redelivery: what ours say.
    """

    topic: str
    headers: tuple[tuple[str, bytes], ...]
    value: bytes | None
    redelivery: Redelivery

    @property
    def is_dead(self) -> bool:
        """Whether it is not tried again."""
        return self.redelivery.delay_level is None


def redelivery_of(headers: Headers) -> Redelivery | None:
    """Return what the headers say of a message that came back; None: it did not, or they do not.

    Of a header that stands twice the last one counts; one without a value is not there.
    """
    told = {name: value for name, value in headers if name in OURS and value is not None}
    try:
        return Redelivery(
            _number(told[RECONSUME_TIMES]),
            Queue(
                told[ORIGIN_TOPIC].decode(),
                told[ORIGIN_BROKER].decode(),
                _number(told[ORIGIN_QUEUE_ID]),
            ),
            _number(told[ORIGIN_OFFSET]),
            _number(told[ORIGIN_TIMESTAMP]),
            None if DELAY_LEVEL not in told else _number(told[DELAY_LEVEL]),
            None if DUE not in told else _number(told[DUE]),
        )
    except (KeyError, ValueError):
        return None


def reconsume_limit(max_reconsume_times: int, *, ordered: bool) -> int | None:
    """Return how often a message may come back; None: without an end.

    Args:
        max_reconsume_times: what the application says; -1: 16, and no limit for ordered groups.
        ordered: whether the group consumes in order.
    """
    if max_reconsume_times != BY_DEFAULT:
        return max_reconsume_times
    return None if ordered else MAX_RECONSUME_TIMES


def send_back(
    message: Message, attempt: int, delay: int, *, group: str, limit: int | None, now_ms: int
) -> SentBack:
    """Decide where a message goes that failed.

    Source: AbstractSendMessageProcessor#consumerSendMsgBack (5.x): a negative delay level, or as
    many attempts as allowed, lead to the dead-letter topic.

    Args:
        message: as it was handed out.
        attempt: how often it was handed out where it is, the failed time included.
        delay: RocketMQ's delay level; 0: by the number of attempts; negative: no more attempt.
        group: whose it is.
        limit: how often it may come back; None: without an end.
        now_ms: the time, in ms since 1970.
    """
    before = None
    if message.queue.topic == retry_topic(group):
        # Another topic's headers are of another group's attempts.
        before = redelivery_of(message.headers)
    times = (0 if before is None else before.reconsume_times) + attempt - 1
    origin = (message.queue, message.offset, message.timestamp_ms)
    if before is not None:
        origin = (before.origin, before.origin_offset, before.origin_timestamp_ms)
    if delay < 0 or (limit is not None and times >= limit):
        topic, told = dead_letter_topic(group), Redelivery(times, *origin)
    else:
        level = level_of(times, delay)
        topic = retry_topic(group)
        told = Redelivery(times + 1, *origin, level, now_ms + delay_ms(level))
    own = tuple((name, value or b"") for name, value in message.headers if name not in OURS)
    value = b"" if message.key is None and message.value is None else message.value
    return SentBack(topic, (*own, *_headers(told)), value, told)


def _headers(told: Redelivery) -> tuple[tuple[str, bytes], ...]:
    said = {
        RECONSUME_TIMES: told.reconsume_times,
        ORIGIN_TOPIC: told.origin.topic,
        ORIGIN_BROKER: told.origin.broker_name,
        ORIGIN_QUEUE_ID: told.origin.queue_id,
        ORIGIN_OFFSET: told.origin_offset,
        ORIGIN_TIMESTAMP: told.origin_timestamp_ms,
        ORIGIN_MESSAGE_ID: told.message_id,
        DELAY_LEVEL: told.delay_level,
        DUE: told.due_ms,
    }
    return tuple((name, str(value).encode()) for name, value in said.items() if value is not None)


def _number(value: bytes) -> int:
    """Read a header's number.

    Raises:
        ValueError: it is none, or negative.
    """
    text = value.decode("ascii")
    if not text.isdigit():
        raise ValueError(text)
    return int(text)
