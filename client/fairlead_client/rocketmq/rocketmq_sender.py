"""Sends messages to RocketMQ: each one once, to the master of its queue's broker."""

from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import partial
from typing import Final

from fairlead_client.errors import FairleadClientError
from fairlead_client.produce.outgoing import OutgoingMessage
from fairlead_client.produce.publish_table import DEFAULT_TOPIC
from fairlead_client.produce.send_error import Fault, SendingError
from fairlead_client.produce.sender import Accepted
from fairlead_client.produce.target import Target
from fairlead_client.remoting.codes import RequestCode, ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.remoting_error import RemotingError
from fairlead_client.rocketmq.brokers import Brokers, NoBrokerError
from fairlead_client.rocketmq.message_body import COMPRESSED, compressed
from fairlead_client.rocketmq.message_id import MessageIds
from fairlead_client.rocketmq.message_properties import (
    KEYS,
    UNIQUE_KEY,
    PropertyError,
    properties_bytes,
)
from fairlead_client.routes.default_route import DEFAULT_TOPIC_QUEUE_NUMS
from fairlead_client.session.clock import wall_ms

__all__ = ["RocketMQSender", "fault_of", "send_command"]

COMPRESS_OVER_BYTES: Final = 4_096
"""The producer's compressMsgBodyOverHowmuch."""
_STORED: Final = frozenset(
    {
        ResponseCode.SUCCESS,
        ResponseCode.FLUSH_DISK_TIMEOUT,
        ResponseCode.FLUSH_SLAVE_TIMEOUT,
        ResponseCode.SLAVE_NOT_AVAILABLE,
    }
)
"""The broker has the message; RocketMQ's producer sends it nowhere else either."""
_BUSY: Final = frozenset(
    {
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.SYSTEM_BUSY,
        ResponseCode.SERVICE_NOT_AVAILABLE,
        ResponseCode.NO_PERMISSION,
        204,
        205,
        1_500,
    }
)
"""DefaultMQProducer's retryResponseCodes; at last NO_BUYER_ID, NOT_IN_CURRENT_UNIT, GO_AWAY."""


class RocketMQSender:
    """A Sender to the masters of a cluster.

    Args:
        brokers: the cluster; the sender closes it.
        group: the producer group.
    """

    def __init__(self, brokers: Brokers, group: str) -> None:
        self._brokers = brokers
        self._group = group
        self._ids = MessageIds()

    def knows(self, topic: str) -> bool:
        """Return True: a sending needs nothing but the route."""
        del topic
        return True

    def learn(self, topic: str, timeout_ms: int, queues: int | None = None) -> None:
        """Do nothing: a broker creates a missing topic itself, when the message names how."""

    def send(self, target: Target, message: OutgoingMessage, timeout_ms: int) -> Future[Accepted]:
        """Begin to send to the master of the queue's broker."""
        del timeout_ms
        ended: Future[Accepted] = Future()
        broker = target.queue.broker_name
        try:
            command = send_command(self._group, target, message, self._ids)
            address = self._brokers.master(broker, message.topic)
        except (PropertyError, UnicodeDecodeError) as error:
            _fail(ended, SendingError(Fault.REFUSED, str(error), broker))
            return ended
        except NoBrokerError as error:
            _fail(ended, SendingError(Fault.NOT_LEADER, str(error), broker))
            return ended
        except FairleadClientError as error:
            _fail(ended, SendingError(Fault.UNREACHABLE, str(error), broker))
            return ended
        sent = self._brokers.send(address, command)
        ended.add_done_callback(partial(_take_back, sent))
        sent.add_done_callback(partial(self._ended, ended, broker, address, message.topic))
        return ended

    def _ended(
        self,
        ended: Future[Accepted],
        broker: str,
        address: str,
        topic: str,
        sent: "Future[Command]",
    ) -> None:
        if sent.cancelled():
            return
        error = sent.exception()
        if error is not None:
            self._brokers.failed(address, topic)
            _fail(ended, SendingError(Fault.UNREACHABLE, str(error), broker))
            return
        response = sent.result()
        if response.code in _STORED:
            with suppress(InvalidStateError):  # the producer gave the attempt up
                ended.set_result(Accepted(int(response.fields["queueOffset"]), broker))
            return
        said = (response.remark or "").strip()
        _fail(ended, SendingError(fault_of(response.code), f"{response.code}: {said}", broker))

    def close(self, timeout_ms: int) -> None:
        """Close the connections; what is under way has ended, or is given up."""
        del timeout_ms
        self._brokers.close()


def send_command(group: str, target: Target, message: OutgoingMessage, ids: MessageIds) -> Command:
    """Return the request to store a message (310; SendMessageRequestHeaderV2's letters).

    Raises:
        PropertyError: RocketMQ's properties cannot hold a header, the key or the tag.
        UnicodeDecodeError: a header or the key is no UTF-8, as RocketMQ's properties are.
    """
    born_ms = wall_ms() if message.timestamp_ms is None else message.timestamp_ms
    properties = {name: value.decode() for name, value in message.all_headers}
    if message.key is not None:
        properties[KEYS] = message.key.decode()
    properties = {UNIQUE_KEY: ids.next(born_ms), "WAIT": "true", **properties}
    body, flag = message.value, 0
    if len(body) > COMPRESS_OVER_BYTES:
        body, flag = compressed(body), COMPRESSED
    fields = {
        "a": group,
        "b": message.topic,
        "c": DEFAULT_TOPIC,
        "d": str(DEFAULT_TOPIC_QUEUE_NUMS),
        "e": str(target.queue.queue_id),
        "f": str(flag),
        "g": str(born_ms),
        "h": "0",
        "i": properties_bytes(properties).decode(),
        "j": "0",
        "k": "false",
        "m": "false",
        "n": target.queue.broker_name,
    }
    return Command(RequestCode.SEND_MESSAGE_V2, fields, body)


def fault_of(code: int) -> Fault:
    """Return the kind of failure that a broker's answer is."""
    if code == ResponseCode.TOPIC_NOT_EXIST:
        return Fault.NOT_LEADER
    return Fault.BUSY if code in _BUSY else Fault.REFUSED


def _take_back(sent: "Future[Command]", ended: Future[Accepted]) -> None:
    if ended.cancelled():
        sent.cancel()


def _fail(ended: Future[Accepted], error: SendingError | RemotingError) -> None:
    with suppress(InvalidStateError):  # the producer gave the attempt up
        ended.set_exception(error)
