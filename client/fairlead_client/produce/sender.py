"""The port through which messages leave: what a data plane has to do for a producer."""

from concurrent.futures import Future
from typing import NamedTuple, Protocol

from fairlead_client.produce.outgoing import OutgoingMessage
from fairlead_client.produce.target import Target


class Accepted(NamedTuple):
    """A message is stored: at this offset of its queue, by this broker."""

    offset: int
    broker: str


class Sender(Protocol):
    """Sends one message to one queue, once. Called by several threads at a time."""

    def knows(self, topic: str) -> bool:
        """Tell whether `send` for the topic waits for nothing."""

    def learn(self, topic: str, timeout_ms: int, queues: int | None = None) -> None:
        """Find out what `send` needs of a topic; may wait so long.

        Args:
            topic: the topic.
            timeout_ms: how long to wait for it.
            queues: make the topic with so many, should it not be there; None: do not.

        Raises:
            SendingError: it could not be found out, or made.
        """

    def send(self, target: Target, message: OutgoingMessage, timeout_ms: int) -> Future[Accepted]:
        """Begin to send; return at once what tells the end.

        It fails with SendingError; the message may be stored all the same when its fault is
        UNREACHABLE. When the time is over it is cancelled: what has not left by then must stay.
        """

    def close(self, timeout_ms: int) -> None:
        """Let what is under way end, within this time, then close."""
