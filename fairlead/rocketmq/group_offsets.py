"""How far a group has read, as a broker knows it (208, 43)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command

from fairlead.core.model import MessageQueue
from fairlead.rocketmq.answer_reading import body_of, counted_from, queue_of, table_of, whole_of

__all__ = [
    "QueueProgress",
    "committed_offsets",
    "consume_stats",
    "consume_stats_request",
    "offset_table_request",
]


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """How far a group has read a queue (OffsetWrapper).

    Attributes:
        end: the offset of the next message that a producer sends.
        committed: the group's offset. 0 also says that the group has committed nothing.
    """

    end: int
    committed: int


def consume_stats_request(group: str, topic: str | None) -> Command:
    """Return the request for a group's progress in a topic; None: in all that it has read."""
    fields = {"consumerGroup": group, **({} if topic is None else {"topic": topic})}
    return Command(RequestCode.GET_CONSUME_STATS, fields)


def consume_stats(answer: Command) -> dict[MessageQueue, QueueProgress]:
    """Return the progress in the queues of one broker.

    Raises:
        EnvironmentMissingError: the answer does not have its form.
    """
    table = table_of(body_of(answer, "consume stats"), "offsetTable")
    return {
        queue_of(key): QueueProgress(
            counted_from(value, "brokerOffset"), counted_from(value, "consumerOffset")
        )
        for key, value in table.items()
    }


def offset_table_request() -> Command:
    """Return the request for every offset that a broker keeps (of all groups)."""
    return Command(RequestCode.GET_ALL_CONSUMER_OFFSET)


def committed_offsets(answer: Command) -> dict[tuple[str, str], Mapping[int, int]]:
    """Return (topic, group) -> queue number -> committed offset; a missing one was never committed.

    Raises:
        EnvironmentMissingError: the answer does not have its form.
    """
    found: dict[tuple[str, str], Mapping[int, int]] = {}
    for key, offsets in table_of(body_of(answer, "offset table"), "offsetTable").items():
        topic, _, group = str(key).partition("@")
        found[topic, group] = _numbered(offsets)
    return found


def _numbered(offsets: Mapping[Any, Any]) -> dict[int, int]:
    return {int(number): whole_of(offset) for number, offset in offsets.items()}
