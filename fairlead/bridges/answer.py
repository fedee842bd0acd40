"""What a bridge answers to a request for offsets."""

from dataclasses import dataclass

from fairlead.core.model import MessageQueue
from fairlead.core.records import OffsetsKnown

__all__ = ["Answer"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The record to publish (None: nothing is known) and the queues without an answer."""

    record: OffsetsKnown | None
    left: tuple[MessageQueue, ...]
