"""The interface that keeps failed messages for another attempt."""

from typing import Final, Protocol

from fairlead_client.message import Message

BY_ATTEMPT: Final = 0
"""A delay level that grows with the attempts."""
DEAD_LETTER: Final = -1
"""No further attempt: the dead-letter topic."""


class FailedMessages(Protocol):
    """Keeps failed messages for a later attempt. The consuming threads call it."""

    def send_back(self, message: Message, attempt: int, delay: int) -> None:
        """Keep the message for the group; return when it is safely stored.

        Args:
            message: the message, as the listener got it.
            attempt: how often this client has handed it out, including the failed time. The
                message's headers say how often others tried it before.
            delay: RocketMQ's delay level: a level from 1 on, BY_ATTEMPT or DEAD_LETTER.

        Raises:
            Exception: the message may not be stored; the consumer consumes it again later.
        """
