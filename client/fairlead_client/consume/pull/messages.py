"""The messages of one batch, each created at its first use."""

from collections.abc import Iterator, Sequence
from typing import overload

from fairlead_client.message import Message, OwnMessage, Record
from fairlead_client.model import Epoch, Queue


class Messages(Sequence[Message]):
    """Messages of one queue, in the order of their offsets.

    Args:
        queue: the queue.
        epoch: the fencing token under which the consumer hands them out.
        records: the messages as pulled.
    """

    __slots__ = ("epoch", "queue", "records")

    def __init__(self, queue: Queue, epoch: Epoch, records: Sequence[Record]) -> None:
        self.queue = queue
        self.epoch = epoch
        self.records = records

    def __len__(self) -> int:
        """Return the number of messages."""
        return len(self.records)

    def __iter__(self) -> Iterator[Message]:
        """Yield the messages, one after another."""
        queue, epoch = self.queue, self.epoch
        for record in self.records:
            yield message_of(queue, epoch, record)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> "Messages": ...
    def __getitem__(self, index: int | slice) -> "Message | Messages":
        """Return one message, or some of them."""
        if isinstance(index, slice):
            return Messages(self.queue, self.epoch, self.records[index])
        return message_of(self.queue, self.epoch, self.records[index])

    def __repr__(self) -> str:
        """Return the number and the queue."""
        return f"<{len(self)} messages of {self.queue}>"


def message_of(queue: Queue, epoch: Epoch, record: Record) -> Message:
    """Return the message of a record, under an epoch of its queue."""
    if isinstance(record, OwnMessage):
        return record.message(queue, epoch)
    return Message(
        queue,
        record.offset,
        record.key,
        record.value,
        tuple(record.headers),
        record.timestamp,
        epoch,
    )
