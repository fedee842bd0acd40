"""A message to be sent, what became of it, and the checks before anything is tried."""

from dataclasses import dataclass
from typing import NamedTuple

from fairlead_client.errors import FairleadClientError
from fairlead_client.model import Queue
from fairlead_client.session.topic_names import RESERVED
from fairlead_client.settings.client_settings import TOPIC
from fairlead_client.transport.tags import TAG_HEADER


class MessageError(FairleadClientError, ValueError):
    """A message that cannot be sent as it is; nothing was tried.

    Attributes:
        field: which part of it.
    """

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{field}: {problem}; {remedy}")
        self.field = field


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message for a topic; `tag` is what consumers may filter by."""

    topic: str
    value: bytes
    key: bytes | None = None
    tag: str | None = None
    headers: tuple[tuple[str, bytes], ...] = ()
    timestamp_ms: int | None = None

    @property
    def all_headers(self) -> list[tuple[str, bytes]]:
        """The headers, the tag's among them."""
        tag = [] if self.tag is None else [(TAG_HEADER, self.tag.encode())]
        return [*self.headers, *tag]


class SendResult(NamedTuple):
    """Where a message is: in this queue, at this offset, on this broker."""

    queue: Queue
    offset: int
    broker: str


def check_message(message: OutgoingMessage, bytes_max: int) -> None:
    """Refuse what no broker would take (Validators#checkMessage).

    Args:
        message: what is to be sent.
        bytes_max: the most that its value may have (maxMessageSize).

    Raises:
        MessageError: it is no message; its topic has no possible name or is the brokers' own; its
            value is missing, empty or too long.
    """
    given: object = message
    if not isinstance(given, OutgoingMessage):
        named = given if isinstance(given, str) and TOPIC.fullmatch(given) else "orders"
        problem = f"a {type(given).__name__} is no OutgoingMessage"
        raise MessageError("message", problem, f'send OutgoingMessage("{named}", b"…")')
    topic: object = message.topic
    if not isinstance(topic, str) or not TOPIC.fullmatch(topic):
        raise MessageError(
            "topic", f"{message.topic!r} is no topic", "give 1-249 of A-Za-z0-9_%|.-"
        )
    if message.topic in RESERVED:
        raise MessageError("topic", f"{message.topic!r} is the brokers' own", "name another one")
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
