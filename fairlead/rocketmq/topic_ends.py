"""Where the queues of a topic end, as its broker says (202), and when they began (32)."""

from dataclasses import dataclass

from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command

from fairlead.core.model import MessageQueue
from fairlead.rocketmq.answer_reading import body_of, counted_from, long_of, queue_of, table_of

__all__ = ["QueueEnd", "earliest_time", "earliest_time_request", "topic_ends", "topic_ends_request"]


@dataclass(frozen=True, slots=True)
class QueueEnd:
    """Where a queue ends (TopicOffset).

    Attributes:
        offset: the offset of the next message.
        last_ms: when the broker stored the last message, by its clock; 0: it holds none.
    """

    offset: int
    last_ms: int = 0


def topic_ends_request(topic: str) -> Command:
    """Return the request for the ends of a topic's queues on one broker."""
    return Command(RequestCode.GET_TOPIC_STATS_INFO, {"topic": topic})


def topic_ends(answer: Command) -> dict[MessageQueue, QueueEnd]:
    """Return the ends of the queues that producers write to.

    Raises:
        EnvironmentMissingError: the answer does not have its form.
    """
    table = table_of(body_of(answer, "topic stats"), "offsetTable")
    return {
        queue_of(key): QueueEnd(
            counted_from(value, "maxOffset"), max(0, counted_from(value, "lastUpdateTimestamp"))
        )
        for key, value in table.items()
    }


def earliest_time_request(queue: MessageQueue) -> Command:
    """Return the request for the time at which a broker stored the first message that it keeps."""
    fields = {"topic": queue.topic, "queueId": str(queue.queue_id)}
    return Command(RequestCode.GET_EARLIEST_MSG_STORETIME, fields)


def earliest_time(answer: Command) -> int | None:
    """Return that time in milliseconds, by the broker's clock; None: the queue is empty."""
    return long_of(answer.fields.get("timestamp", "")) or None
