"""One pull of a queue: its request (PullMessageRequestHeader), and what its answer says."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from fairlead_client.consume.pull.message_source import PullStatus
from fairlead_client.model import Queue, Subscription
from fairlead_client.remoting.codes import RequestCode, ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.remoting_error import RequestRefusedError
from fairlead_client.rocketmq.message_body import COMPRESSED, BodyError
from fairlead_client.rocketmq.rocketmq_message import PulledMessage
from fairlead_client.rocketmq.stored_message import StoredMessageError, stored_messages
from fairlead_client.routes.topic_route import MASTER

__all__ = ["Pulled", "pull_command", "pulled"]

_SUSPEND: Final = 0x2
_SUBSCRIPTION: Final = 0x4
_FLAGS: Final = _SUSPEND | _SUBSCRIPTION
"""PullSysFlag: the broker holds the pull, and filters by the pull's own expression, so that it
needs no heartbeat of this client."""


class Pulled(NamedTuple):
    """A broker's answer.

    Attributes:
        status: how the pull ended.
        next_offset: where to pull next.
        begin: the queue's first offset.
        end: the next offset to be written.
        broker_id: which of the broker's machines to ask next (suggestWhichBrokerId).
        messages: the messages, in order.
    """

    status: PullStatus
    next_offset: int
    begin: int
    end: int
    broker_id: int = MASTER
    messages: Sequence[PulledMessage] = ()


def pull_command(
    group: str, queue: Queue, offset: int, subscription: Subscription, *, most: int, suspend_ms: int
) -> Command:
    """Return the request for messages of a queue, from an offset on (11)."""
    fields = {
        "consumerGroup": group,
        "topic": queue.topic,
        "queueId": str(queue.queue_id),
        "queueOffset": str(offset),
        "maxMsgNums": str(most),
        "sysFlag": str(_FLAGS),
        "commitOffset": "0",
        "suspendTimeoutMillis": str(suspend_ms),
        "subscription": " || ".join(subscription.wanted_tags) or "*",
        "subVersion": str(subscription.sub_version),
        "expressionType": "TAG",
    }
    return Command(RequestCode.PULL_MESSAGE, fields)


def pulled(address: str, response: Command) -> Pulled:
    """Return what a broker's answer to a pull says.

    Raises:
        RequestRefusedError: the broker refuses the pull.
        StoredMessageError: its first message or its numbers cannot be read.
        BodyError: the body of the first message cannot be decompressed.
    """
    if response.code not in _STATUS:
        raise RequestRefusedError(address, response.code, response.remark)
    status = _STATUS[response.code]
    fields = response.fields
    begin, end = _number(fields, "minOffset"), _number(fields, "maxOffset")
    after = _number(fields, "nextBeginOffset")
    suggested = _number(fields, "suggestWhichBrokerId", MASTER)
    if status is not PullStatus.FOUND:
        return Pulled(status, after, begin, end, suggested)
    messages: list[PulledMessage] = []
    try:
        for message in stored_messages(memoryview(response.body), PulledMessage):
            _check(message)
            messages.append(message)
    except (StoredMessageError, BodyError):
        # It stops its queue, and not those that lie before it: the next pull begins with it.
        if not messages:
            raise
        after = messages[-1].offset + 1
    return Pulled(status, after, begin, end, suggested, messages)


def _check(message: PulledMessage) -> None:
    if message.is_batch:
        problem = f"{message} holds a whole batch, which this client does not unwrap"
        raise StoredMessageError(problem)
    if message.sys_flag & COMPRESSED:
        # Here an error stops its queue, and says so; later it would hit the application.
        _ = message.value


_STATUS: Final[Mapping[int, PullStatus]] = {
    ResponseCode.SUCCESS: PullStatus.FOUND,
    ResponseCode.PULL_NOT_FOUND: PullStatus.NO_NEW_MSG,
    ResponseCode.PULL_RETRY_IMMEDIATELY: PullStatus.NO_MATCHED_MSG,
    ResponseCode.PULL_OFFSET_MOVED: PullStatus.OFFSET_ILLEGAL,
}
"""Source: MQClientAPIImpl#processPullResponse."""


def _number(fields: Mapping[str, str], name: str, otherwise: int | None = None) -> int:
    value = fields.get(name)
    if value is None and otherwise is not None:
        return otherwise
    try:
        return int(value or "")
    except ValueError:
        raise StoredMessageError(f"the broker's answer has {name}={value!r}") from None
