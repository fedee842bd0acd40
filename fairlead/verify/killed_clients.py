"""The queues and unfinished messages of killed clients, as values."""

from dataclasses import dataclass

__all__ = ["KilledClient", "KilledQueue"]


@dataclass(frozen=True, slots=True)
class KilledQueue:
    """One queue of a killed client.

    Attributes:
        queue: its name.
        progress: the last progress that the engine had read when it granted the queue again.
        processed: the offset after the last message that the client processed.
        granted: where the engine let the successor start; None if there was none.
        read_twice: messages of the client that the successor read again.
    """

    queue: str
    progress: int
    processed: int
    granted: int | None
    read_twice: int

    @property
    def at_most(self) -> int:
        """How many messages may be read twice: those after the last progress."""
        return max(0, self.processed - self.progress)


@dataclass(frozen=True, slots=True)
class KilledClient:
    """A killed client: what it owned and had in hand.

    Attributes:
        client_id: its id.
        in_hand: the message it was processing when it died, as queue@offset; None if none.
        queues: what it owned when it died.
    """

    client_id: str
    in_hand: str | None
    queues: tuple[KilledQueue, ...]

    @property
    def read_twice(self) -> int:
        """How many messages successors read again after its death."""
        return sum(queue.read_twice for queue in self.queues)

    @property
    def at_most(self) -> int:
        """How many messages successors may read again."""
        return sum(queue.at_most for queue in self.queues)
