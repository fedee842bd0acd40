"""Observers: what a client and a producer report as it happens; metrics are one observer."""

from fairlead_client.model import Epoch, Queue


class Observer:
    """Receives a client's events, on the thread where each happens; these methods do nothing.

    A method must be quick, must not raise, and must not call the client.
    """

    def work_started(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """Work on the queue starts at this offset; no message was handed out yet."""

    def reading(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """A Consumer fetches the queue from this offset on."""

    def offset_corrected(self, queue: Queue, epoch: Epoch, offset: int, corrected: int) -> None:
        """The offset lay outside of the queue; the client continues at `corrected`."""

    def passed(self, queue: Queue, epoch: Epoch, offset: int, end: int, why: str) -> None:
        """The client skips the offsets from `offset` to `end - 1` without processing them here.

        `why` is `filtered` (the subscription wants nothing there) or `sent_back` (the message is in
        the retry topic or the dead-letter topic). The position moves afterwards.
        """

    def work_stopped(self, queue: Queue, epoch: Epoch, offset: int) -> None:
        """No message of the queue is in hand any more; its release is not yet sent."""

    def assignment_read(self) -> None:
        """The client read an assignment of its own."""

    def batch_passed_over(self) -> None:
        """The client could not read a batch of Fairlead's topics, and skipped it."""

    def owned(self, queues: int) -> None:
        """The client now works on this many queues."""

    def polled(self) -> None:
        """The application asked for messages, or a PushConsumer calls its listener."""

    def revoked(self) -> None:
        """The client gives up a queue."""

    def revoke_took(self, seconds: float) -> None:
        """The application took this long to stop working on a queue."""

    def commit_failed(self) -> None:
        """The client could not commit positions."""


class ProducerObserver:
    """Receives a producer's events, on the thread where each happens; these methods do nothing.

    A method must be quick, must not raise, and must not call the producer.
    """

    def attempt_succeeded(self, broker: str, latency_ms: int) -> None:
        """A broker acknowledged a message after `latency_ms`."""

    def attempt_failed(self, broker: str | None, latency_ms: int, fault: str) -> None:
        """An attempt failed; `fault` is unreachable, not_leader, busy, out_of_time or refused."""

    def avoided(self, broker: str, duration_ms: int) -> None:
        """The producer avoids a broker for `duration_ms` from now; 0: no longer."""

    def acknowledged(self, attempts: int) -> None:
        """A broker stored a message, after this many attempts."""

    def failed(self) -> None:
        """The producer gave a message up."""

    def route_unreadable(self, topic: str) -> None:
        """The producer cannot use a topic's new route, and keeps the topic's old queues."""
