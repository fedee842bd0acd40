"""What may be watched in a client; metrics are one observer, none is the default."""

from fairlead_client.model import Epoch, Queue


class Observer:
    """Told what happens, on whatever thread it happens; the methods of this one do nothing.

    They are called in the middle of things: be quick, raise nothing, call nothing of the client.
    """

    def work_started(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """A Consumer's queue may be read from here on; no message of it was handed out yet."""

    def reading(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """A Consumer stands at this offset of the queue and fetches from there."""

    def work_stopped(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """Nothing of a Consumer's queue is in hand any more; its release is not yet sent."""

    def assignment_read(self) -> None:
        """An assignment to this client was read."""

    def owned(self, queues: int) -> None:
        """The client works on this many queues."""

    def polled(self) -> None:
        """The application asked for a message."""

    def revoked(self) -> None:
        """A queue was taken away."""

    def revoke_took(self, seconds: float) -> None:
        """The application took this long to stop working on a queue."""

    def commit_failed(self) -> None:
        """Positions could not be committed."""
