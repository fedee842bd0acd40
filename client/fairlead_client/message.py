"""One message of a queue, as consumers hand it out and as its source returns it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fairlead_client.model import Epoch, Queue


@dataclass(frozen=True, slots=True)
class Message:
    """A message.

    Attributes:
        queue: the queue it was read from.
        offset: its offset in the queue.
        key: its key.
        value: its body; None for a null body.
        headers: its headers, in order.
        timestamp_ms: when it was created, in ms since 1970.
        epoch: the fencing token under which the consumer handed it out.
    """

    queue: Queue
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    timestamp_ms: int
    epoch: Epoch

    @property
    def topic(self) -> str:
        """The Kafka topic."""
        return self.queue.topic

    @property
    def partition(self) -> int:
        """The Kafka partition."""
        return self.queue.queue_id


class OwnMessage:
    """A record whose data plane has its own kind of message."""

    __slots__ = ()

    def message(self, queue: Queue, epoch: Epoch) -> Message:
        """Return the message, under an epoch of its queue."""
        raise NotImplementedError


class Record(Protocol):
    """A message as its source returns it, such as kafka-python's ConsumerRecord."""

    @property
    def offset(self) -> int:
        """Its offset."""

    @property
    def key(self) -> bytes | None:
        """Its key."""

    @property
    def value(self) -> bytes | None:
        """Its body."""

    @property
    def headers(self) -> Sequence[tuple[str, bytes]]:
        """Its headers."""

    @property
    def timestamp(self) -> int:
        """When it was created, in ms since 1970."""
