"""One message of a queue, as a Consumer hands it out."""

from dataclasses import dataclass

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
