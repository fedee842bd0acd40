"""Sends failed messages back to their broker, for RocketMQ's own retry topics (ADR 0233)."""

import logging

from fairlead_client.consume.retry.redelivery import reconsume_limit
from fairlead_client.errors import FairleadClientError, SendBackError
from fairlead_client.message import Message
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command
from fairlead_client.rocketmq.brokers import Brokers
from fairlead_client.rocketmq.rocketmq_message import RocketMQMessage
from fairlead_client.settings.client_settings import Settings

__all__ = ["RocketMQFailedMessages"]

logger = logging.getLogger(__name__)

_WITHOUT_LIMIT = 2**31 - 1


class RocketMQFailedMessages:
    """Has the broker keep failed messages: in the group's retry topic, and at last in its DLQ.

    The broker holds a message until its delay is over, counts its attempts, and creates the topics.

    Args:
        settings: the client's settings.
        max_reconsume_times: how often a message may come back; -1: 16, and without limit in
            ordered groups.
    """

    def __init__(self, settings: Settings, max_reconsume_times: int = -1) -> None:
        self._group = settings.group
        self._timeout_s = settings.lease_ms / 1_000
        limit = reconsume_limit(max_reconsume_times, ordered=settings.ordered)
        self._limit = _WITHOUT_LIMIT if limit is None else limit
        self._brokers = Brokers(settings.rocketmq_settings)

    def send_back(self, message: Message, attempt: int, delay: int) -> None:
        """Have the message's broker keep it; return when it has (36).

        Args:
            message: the message, as the consumer handed it out.
            attempt: how often this consumer has handed it out; the broker counts by itself.
            delay: RocketMQ's delay level; 0: by the number of attempts; negative: to the DLQ.

        Raises:
            SendBackError: the message may not be stored.
        """
        del attempt
        if not isinstance(message, RocketMQMessage):
            raise SendBackError(f"{message.queue}@{message.offset} is no message of RocketMQ")
        queue = message.queue
        fields = {
            "offset": str(message.stored.commit_log_offset),
            "group": self._group,
            "delayLevel": str(delay),
            "originMsgId": message.message_id,
            "originTopic": message.real_topic,
            "unitMode": "false",
            "maxReconsumeTimes": str(self._limit),
        }
        command = Command(RequestCode.CONSUMER_SEND_MSG_BACK, fields)
        try:
            address = self._brokers.master(queue.broker_name, queue.topic)
            self._brokers.call(address, command, self._timeout_s)
        except FairleadClientError as error:
            problem = f"{message.message_id} was not sent back: {error}"
            raise SendBackError(f"{problem}; the consumer consumes it again") from error
        if delay < 0 or message.reconsume_times >= self._limit:
            logger.warning(
                "%s failed %d times and is in %%DLQ%%%s",
                message.message_id,
                message.reconsume_times + 1,
                self._group,
            )

    def close(self) -> None:
        """Close the connections."""
        self._brokers.close()
