"""One message of a queue: as a Consumer hands it out, and as it was read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fairlead_client.model import Epoch, Queue


@dataclass(frozen=True, slots=True)
class Message:
    """A message; `epoch` is the fencing token under which it was handed out."""

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


class Record(Protocol):
    """A pulled message as its source has it; kafka-python's ConsumerRecord is one."""

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
        """When it was made, in milliseconds since 1970."""
