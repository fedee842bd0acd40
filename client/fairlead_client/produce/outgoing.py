"""A message to send, its result, and the checks before an attempt."""

from dataclasses import dataclass
from enum import Enum, unique
from typing import NamedTuple

from fairlead_client.errors import FieldError
from fairlead_client.model import Queue
from fairlead_client.session.topic_names import RESERVED
from fairlead_client.settings.client_settings import TOPIC
from fairlead_client.transport.tags import TAG_HEADER


class MessageError(FieldError):
    """A message is not valid, and nothing was tried; `field` is the wrong part of the message."""


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message for a topic.

    Attributes:
        topic: the topic.
        value: the body, at least one byte.
        key: the key.
        tag: the tag by which consumers may filter, sent as the header `TAGS`.
        headers: further headers.
        timestamp_ms: when it was created, in ms since 1970; None: now.
        delay_level: RocketMQ's delay level, after which consumers get it: 1 for 1 s, 3 for 10 s, as
            its brokers say; None: at once. Kafka has none.
    """

    topic: str
    value: bytes
    key: bytes | None = None
    tag: str | None = None
    headers: tuple[tuple[str, bytes], ...] = ()
    timestamp_ms: int | None = None
    delay_level: int | None = None

    @property
    def all_headers(self) -> list[tuple[str, bytes]]:
        """The headers, with the tag's."""
        tag = [] if self.tag is None else [(TAG_HEADER, self.tag.encode())]
        return [*self.headers, *tag]


@unique
class SendStatus(Enum):
    """How safely a broker has stored a message, in RocketMQ's words; Kafka's are all SEND_OK.

    The others: the broker has it, and consumers get it, but it was not on the disk in time, not
    at a slave in time, or there was no slave. The producer does not send it again, as RocketMQ's
    own does not by default (retryAnotherBrokerWhenNotStoreOK).
    """

    SEND_OK = "SEND_OK"
    FLUSH_DISK_TIMEOUT = "FLUSH_DISK_TIMEOUT"
    FLUSH_SLAVE_TIMEOUT = "FLUSH_SLAVE_TIMEOUT"
    SLAVE_NOT_AVAILABLE = "SLAVE_NOT_AVAILABLE"


class SendResult(NamedTuple):
    """Where a message was stored: its queue, its offset, the broker; its id; how safely.

    Only messages on RocketMQ have an id. The offset of a delayed message is not that in its queue,
    which it reaches when its time has come.
    """

    queue: Queue
    offset: int
    broker: str
    message_id: str | None = None
    status: SendStatus = SendStatus.SEND_OK


def check_message(message: OutgoingMessage, bytes_max: int, *, delays: bool = False) -> None:
    """Check that a message is valid (Validators#checkMessage).

    Args:
        message: the message.
        bytes_max: the longest value (maxMessageSize).
        delays: whether the data plane can hold a message back.

    Raises:
        MessageError: it is no message, its topic is impossible or reserved for the brokers, or its
            value is missing, empty or too long, or it shall be held back where nobody can.
    """
    given: object = message
    if not isinstance(given, OutgoingMessage):
        named = given if isinstance(given, str) and TOPIC.fullmatch(given) else "orders"
        problem = f"a {type(given).__name__} is no OutgoingMessage"
        raise MessageError("message", problem, f'send OutgoingMessage("{named}", b"…")')
    topic: object = message.topic
    if not isinstance(topic, str) or not TOPIC.fullmatch(topic):
        raise MessageError(
            "topic",
            f"{message.topic!r} is not a valid topic",
            "give 1-249 characters of A-Za-z0-9_%|.-",
        )
    if message.topic in RESERVED:
        problem = f"{message.topic!r} is reserved for the brokers"
        raise MessageError("topic", problem, "name another topic")
    value: object = message.value
    if not isinstance(value, bytes):
        raise MessageError("value", "is not bytes", "encode it")
    if not message.value:
        raise MessageError("value", "is empty", "send at least one byte")
    if len(message.value) > bytes_max:
        raise MessageError(
            "value",
            f"{len(message.value)} bytes are more than {bytes_max}",
            "send less, or raise max_message_bytes here and on the brokers",
        )
    if message.delay_level is not None and not delays:
        problem = "is RocketMQ's, and Kafka holds no message back"
        raise MessageError("delay_level", problem, "leave it out")
