"""What brokers know of single queues: their bounds, a group's offset, an offset for a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fairlead_client.remoting.codes import RequestCode, ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import RemotingError, RequestRefusedError

from fairlead.core.model import MessageQueue
from fairlead.rocketmq.answer_reading import long_of, read_answer
from fairlead.rocketmq.asking import Answer, Question, ask_all
from fairlead.rocketmq.group_offsets import committed_offsets, offset_table_request

__all__ = ["QueueFacts", "commit_request", "queue_facts"]

_NO_COMMIT: Final = (ResponseCode.QUERY_NOT_FOUND, ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST)


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """What the master of a queue's broker says of it.

    Attributes:
        earliest: its first offset.
        latest: the offset of the next message.
        committed: the group's offset; None: the group has committed nothing.
        for_time: an offset that skips no message as young as the time; None: none was asked for.
    """

    earliest: int
    latest: int
    committed: int | None
    for_time: int | None


def commit_request(group: str, queue: MessageQueue, offset: int) -> Command:
    """Return the request that sets a group's offset of a queue (15)."""
    fields = {**_queue_fields(queue), "consumerGroup": group, "commitOffset": str(offset)}
    return Command(RequestCode.UPDATE_CONSUMER_OFFSET, fields)


def queue_facts(
    connections: Connections,
    masters: Mapping[str, str],
    group: str,
    queues: Sequence[MessageQueue],
    *,
    timestamp_ms: int | None = None,
    timeout_s: float = 3.0,
) -> dict[MessageQueue, QueueFacts]:
    """Ask all masters about all queues at once, on one connection each.

    A queue is left out if its master is unknown, does not answer everything in time, or contradicts
    itself. A guess would make its readers skip messages, or read them again.

    The end of a queue is asked for before the offset for a time (29): a message that arrives
    meanwhile must not be skipped.

    Args:
        connections: to the brokers.
        masters: broker name -> address. A slave lags, so its end and its commits prove nothing.
        group: whose offsets.
        queues: which queues.
        timestamp_ms: also find the first offset of this time; None: not asked for.
        timeout_s: the time limit of each round of questions; there are at most three.
    """
    known = [queue for queue in queues if queue.broker_name in masters]
    rounds = [
        Question(masters[queue.broker_name], request)
        for queue in known
        for request in (_minimum(queue), _maximum(queue), _committed(group, queue))
    ]
    answers = iter(ask_all(connections, rounds, timeout_s))
    heard = {queue: (next(answers), next(answers), next(answers)) for queue in known}
    bounds = {
        queue: (first, last)
        for queue, (least, most, _) in heard.items()
        if (first := _offset(least)) is not None
        and (last := _offset(most)) is not None
        and 0 <= first <= last
    }
    commits = _commits(
        connections, masters, group, {queue: heard[queue][2] for queue in bounds}, timeout_s
    )
    times = (
        {}
        if timestamp_ms is None
        else _times(connections, masters, list(bounds), timestamp_ms, timeout_s)
    )
    return {
        queue: QueueFacts(
            first,
            last,
            commits[queue],
            None if timestamp_ms is None else max(first, times[queue]),
        )
        for queue, (first, last) in bounds.items()
        if queue in commits and (timestamp_ms is None or queue in times)
    }


def _commits(
    connections: Connections,
    masters: Mapping[str, str],
    group: str,
    answers: Mapping[MessageQueue, Answer],
    timeout_s: float,
) -> dict[MessageQueue, int | None]:
    """Return the group's offset per queue; a queue whose commit is unknown is left out.

    Brokers of 4.x answer 0 for a young queue without a commit, whatever the request says
    (ConsumerManageProcessor#queryConsumerOffset). Their table of all offsets has only what was
    committed.
    """
    commits: dict[MessageQueue, int | None] = {}
    zeros: list[MessageQueue] = []
    for queue, answer in answers.items():
        offset = _offset(answer)
        if offset == 0:
            zeros.append(queue)
        elif offset is not None and offset > 0:
            commits[queue] = offset
        elif isinstance(answer, RequestRefusedError) and answer.code in _NO_COMMIT:
            commits[queue] = None
    brokers = sorted({queue.broker_name for queue in zeros})
    questions = [Question(masters[name], offset_table_request()) for name in brokers]
    tables = {
        name: read_answer(masters[name], answer, committed_offsets)
        for name, answer in zip(brokers, ask_all(connections, questions, timeout_s), strict=True)
    }
    for queue in zeros:
        table = tables[queue.broker_name]
        if not isinstance(table, RemotingError):
            commits[queue] = table.get((queue.topic, group), {}).get(queue.queue_id)
    return commits


def _times(
    connections: Connections,
    masters: Mapping[str, str],
    queues: Sequence[MessageQueue],
    timestamp_ms: int,
    timeout_s: float,
) -> dict[MessageQueue, int]:
    questions = [
        Question(
            masters[queue.broker_name],
            Command(
                RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
                {**_queue_fields(queue), "timestamp": str(timestamp_ms)},
            ),
        )
        for queue in queues
    ]
    answers = zip(queues, ask_all(connections, questions, timeout_s), strict=True)
    return {queue: found for queue, answer in answers if (found := _offset(answer)) is not None}


def _minimum(queue: MessageQueue) -> Command:
    return Command(RequestCode.GET_MIN_OFFSET, _queue_fields(queue))


def _maximum(queue: MessageQueue) -> Command:
    return Command(RequestCode.GET_MAX_OFFSET, _queue_fields(queue))


def _committed(group: str, queue: MessageQueue) -> Command:
    fields = {**_queue_fields(queue), "consumerGroup": group, "setZeroIfNotFound": "false"}
    return Command(RequestCode.QUERY_CONSUMER_OFFSET, fields)


def _queue_fields(queue: MessageQueue) -> dict[str, str]:
    return {"topic": queue.topic, "queueId": str(queue.queue_id)}


def _offset(answer: Answer) -> int | None:
    """Return the offset of a response; None: it says none."""
    if not isinstance(answer, Command):
        return None
    return long_of(answer.fields.get("offset", ""))
