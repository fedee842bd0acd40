"""Sends messages to RocketMQ: each one once, to the master of its queue's broker."""

from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import partial
from typing import Final

from fairlead_client.errors import FairleadClientError
from fairlead_client.produce.outgoing import MessageError, OutgoingMessage, SendStatus
from fairlead_client.produce.publish_table import DEFAULT_TOPIC
from fairlead_client.produce.send_error import Fault, SendingError
from fairlead_client.produce.sender import Accepted
from fairlead_client.produce.target import Target
from fairlead_client.remoting.codes import RequestCode, ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.remoting_error import RemotingError, is_login_refusal, words_of
from fairlead_client.rocketmq.brokers import Brokers, NoBrokerError
from fairlead_client.rocketmq.message_body import COMPRESSED, compressed
from fairlead_client.rocketmq.message_check import properties_of
from fairlead_client.rocketmq.message_id import MessageIds
from fairlead_client.rocketmq.message_properties import UNIQUE_KEY, WAIT, properties_bytes
from fairlead_client.routes.default_route import DEFAULT_TOPIC_QUEUE_NUMS
from fairlead_client.session.clock import wall_ms

__all__ = ["RocketMQSender", "fault_of"]

NO_TOPIC: Final = "%NONE%"
"""A default topic that no broker has, so that none creates a missing topic."""
COMPRESS_OVER_BYTES: Final = 4_096
"""The producer's compressMsgBodyOverHowmuch."""
_STORED: Final = {
    ResponseCode.SUCCESS: SendStatus.SEND_OK,
    ResponseCode.FLUSH_DISK_TIMEOUT: SendStatus.FLUSH_DISK_TIMEOUT,
    ResponseCode.FLUSH_SLAVE_TIMEOUT: SendStatus.FLUSH_SLAVE_TIMEOUT,
    ResponseCode.SLAVE_NOT_AVAILABLE: SendStatus.SLAVE_NOT_AVAILABLE,
}
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
        creates: whether a broker without the topic may create it, as TBW102 says.
    """

    def __init__(self, brokers: Brokers, group: str, *, creates: bool = False) -> None:
        self._brokers = brokers
        self._group = group
        self._default_topic = DEFAULT_TOPIC if creates else NO_TOPIC
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
            message_id, command = self._command(target, message)
            address = self._brokers.master(broker, message.topic)
        except MessageError as error:
            _fail(ended, SendingError(Fault.REFUSED, str(error), broker))
            return ended
        except NoBrokerError as error:
            _fail(ended, SendingError(Fault.NOT_LEADER, str(error), broker))
            return ended
        except FairleadClientError as error:
            _fail(ended, SendingError(Fault.UNREACHABLE, str(error), broker))
            return ended
        sent = self._brokers.send(address, command)
        ended.add_done_callback(partial(self._take_back, sent, address, message.topic))
        sent.add_done_callback(partial(self._ended, ended, target, message_id, address))
        return ended

    def _ended(
        self,
        ended: Future[Accepted],
        target: Target,
        message_id: str,
        address: str,
        sent: "Future[Command]",
    ) -> None:
        broker = target.queue.broker_name
        if sent.cancelled():
            return
        error = sent.exception()
        if error is not None:
            self._brokers.failed(address, target.queue.topic)
            _fail(ended, SendingError(Fault.UNREACHABLE, str(error), broker))
            return
        response = sent.result()
        self._brokers.worked(address)
        if response.code in _STORED:
            offset = int(response.fields["queueOffset"])
            accepted = Accepted(offset, broker, message_id, _STORED[ResponseCode(response.code)])
            with suppress(InvalidStateError):  # the producer gave the attempt up
                ended.set_result(accepted)
            return
        fault = fault_of(response.code)
        if is_login_refusal(response.remark):  # The other brokers would say the same.
            fault = Fault.REFUSED
        _fail(ended, SendingError(fault, f"{response.code}: {words_of(response.remark)}", broker))

    def _take_back(
        self, sent: "Future[Command]", address: str, topic: str, ended: Future[Accepted]
    ) -> None:
        if ended.cancelled() and sent.cancel():
            # Silence may mean that another machine is the master now.
            self._brokers.failed(address, topic)

    def _command(self, target: Target, message: OutgoingMessage) -> tuple[str, Command]:
        """Return the message's id and the request (310; SendMessageRequestHeaderV2's letters).

        Raises:
            MessageError: RocketMQ's properties cannot hold a header, the key or the tag.
        """
        born_ms = wall_ms() if message.timestamp_ms is None else message.timestamp_ms
        message_id = self._ids.next(born_ms)
        properties = {UNIQUE_KEY: message_id, WAIT: "true", **properties_of(message)}
        body, flag = message.value, 0
        if len(body) > COMPRESS_OVER_BYTES:
            body, flag = compressed(body), COMPRESSED
        fields = {
            "a": self._group,
            "b": message.topic,
            "c": self._default_topic,
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
        return message_id, Command(RequestCode.SEND_MESSAGE_V2, fields, body)

    def close(self, timeout_ms: int) -> None:
        """Close the connections; what is under way has ended, or is given up."""
        del timeout_ms
        self._brokers.close()


def fault_of(code: int) -> Fault:
    """Return the kind of failure that a broker's answer is."""
    if code == ResponseCode.TOPIC_NOT_EXIST:
        return Fault.NOT_LEADER
    return Fault.BUSY if code in _BUSY else Fault.REFUSED


def _fail(ended: Future[Accepted], error: SendingError | RemotingError) -> None:
    with suppress(InvalidStateError):  # the producer gave the attempt up
        ended.set_exception(error)
