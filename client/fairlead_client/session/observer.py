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

    def offset_corrected(self, queue: Queue, epoch: Epoch, offset: int, corrected: int) -> None:
        """An offset below the beginning of the queue or beyond its end: it is read on from here."""

    def passed(self, queue: Queue, epoch: Epoch, offset: int, end: int, why: str) -> None:
        """The queue goes on behind `offset` to `end - 1`, and nothing of it was processed here.

        `why` is `filtered` (nothing that the subscription wants stands there) or `sent_back` (the
        message is in the retry topic or the dead-letter topic). The position moves after it.
        """

    def work_stopped(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """Nothing of a Consumer's queue is in hand any more; its release is not yet sent."""

    def assignment_read(self) -> None:
        """An assignment to this client was read."""

    def batch_passed_over(self) -> None:
        """Some records of Fairlead's topics could not be read; the client reads on behind them."""

    def owned(self, queues: int) -> None:
        """The client works on this many queues."""

    def polled(self) -> None:
        """The application asked for messages; a PushConsumer's listener is called with some."""

    def revoked(self) -> None:
        """A queue was taken away."""

    def revoke_took(self, seconds: float) -> None:
        """The application took this long to stop working on a queue."""

    def commit_failed(self) -> None:
        """Positions could not be committed."""


class ProducerObserver:
    """Told what becomes of a producer's messages, on whatever thread; the methods do nothing.

    Be quick, raise nothing, call nothing of the producer.
    """

    def attempt_succeeded(self, broker: str, latency_ms: int) -> None:
        """A broker acknowledged a message after so many ms."""

    def attempt_failed(self, broker: str | None, latency_ms: int, fault: str) -> None:
        """An attempt failed: `fault` is unreachable, not_leader, busy or refused."""

    def avoided(self, broker: str, duration_ms: int) -> None:
        """A broker is avoided for so many ms from now; 0: no more."""

    def acknowledged(self, attempts: int) -> None:
        """A message is stored, after so many attempts."""

    def failed(self) -> None:
        """A message was given up."""

    def route_unreadable(self, topic: str) -> None:
        """A topic's new route is no good, so its queues stay what they were."""
