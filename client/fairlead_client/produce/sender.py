"""The interface of a data plane for a producer."""

from concurrent.futures import Future
from typing import NamedTuple, Protocol

from fairlead_client.produce.outgoing import OutgoingMessage, SendStatus
from fairlead_client.produce.target import Target


class Accepted(NamedTuple):
    """A stored message: its offset in its queue, the broker that stored it, its id, how safely."""

    offset: int
    broker: str
    message_id: str | None = None
    status: SendStatus = SendStatus.SEND_OK


class Sender(Protocol):
    """Sends one message to one queue, once. Several threads call it at a time."""

    def knows(self, topic: str) -> bool:
        """Return whether `send` to the topic need not wait."""

    def learn(self, topic: str, timeout_ms: int, queues: int | None = None) -> None:
        """Find out what `send` needs of a topic.

        Args:
            topic: the topic.
            timeout_ms: the longest wait.
            queues: create a missing topic with this many queues; None: create none.

        Raises:
            SendingError: the topic is unknown, or could not be created.
        """

    def send(self, target: Target, message: OutgoingMessage, timeout_ms: int) -> Future[Accepted]:
        """Begin to send; return a future of the result at once.

        The future fails with a SendingError. With the fault UNREACHABLE the message may be stored.
        The producer cancels the future when the time is over; a message that has not left by then
        must not leave.
        """

    def close(self, timeout_ms: int) -> None:
        """Wait for unfinished sendings for this time, then close."""
