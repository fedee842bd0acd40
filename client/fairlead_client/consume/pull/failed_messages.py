"""What becomes of a message that could not be consumed: a port."""

from typing import Final, Protocol

from fairlead_client.message import Message

BY_ATTEMPT: Final = 0
"""The delay level grows with the attempts."""
DEAD_LETTER: Final = -1
"""The message is not tried again."""


class FailedMessages(Protocol):
    """Keeps failed messages for another attempt later. Called on the threads that consume."""

    def send_back(self, message: Message, attempt: int, delay: int) -> None:
        """Keep the message, so that the group gets it again; return when that is sure.

        Args:
            message: the message, as it was handed to the listener.
            attempt: how often this client has handed it out, the time that failed included. How
                often it was tried before it came here, its headers say.
            delay: RocketMQ's delay level: 1 and more name one, BY_ATTEMPT, DEAD_LETTER.

        Raises:
            Exception: it is not sure that the message is kept; it is consumed here again later.
        """
