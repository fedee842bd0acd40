"""A message of RocketMQ, as consumers hand it out."""

from dataclasses import dataclass
from typing import Final

from fairlead_client.message import Message, OwnMessage
from fairlead_client.model import Epoch, Queue
from fairlead_client.rocketmq.message_properties import TAGS
from fairlead_client.rocketmq.stored_message import StoredMessage

__all__ = ["PulledMessage", "RocketMQMessage"]

_REAL_TOPIC: Final = "RETRY_TOPIC"
"""PROPERTY_RETRY_TOPIC: where a message of a retry topic was first."""


@dataclass(frozen=True, slots=True)
class RocketMQMessage(Message):
    """A message with what RocketMQ knows of it; its headers are its properties.

    Attributes:
        stored: the message as its broker stores it.
    """

    stored: StoredMessage

    @property
    def message_id(self) -> str:
        """The id that its producer gave it (getMsgId)."""
        return self.stored.message_id

    @property
    def tag(self) -> str | None:
        """Its tag."""
        return self.stored.properties.get(TAGS)

    @property
    def reconsume_times(self) -> int:
        """How often it came back to its group (getReconsumeTimes)."""
        return self.stored.reconsume_times

    @property
    def real_topic(self) -> str:
        """The topic that it was sent to, even if it has come back by a retry topic."""
        return self.stored.properties.get(_REAL_TOPIC) or self.queue.topic


class PulledMessage(StoredMessage, OwnMessage):
    """A stored message that a consumer hands out as a RocketMQMessage."""

    __slots__ = ()

    def message(self, queue: Queue, epoch: Epoch) -> RocketMQMessage:
        """Return the message, under an epoch of its queue."""
        parts = (self.offset, self.key, self.value, self.headers, self.timestamp)
        return RocketMQMessage(queue, *parts, epoch, self)
