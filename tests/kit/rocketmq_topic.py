"""A topic of a real RocketMQ: created on every broker, and written to queue by queue."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fairlead_client.model import Queue, Subscription
from fairlead_client.produce.outgoing import OutgoingMessage
from fairlead_client.produce.target import Target
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.remoting_error import RequestRefusedError
from fairlead_client.rocketmq.brokers import Brokers
from fairlead_client.rocketmq.pull_request import pull_command, pulled
from fairlead_client.rocketmq.queue_offsets import QueueOffsets
from fairlead_client.rocketmq.rocketmq_sender import RocketMQSender
from fairlead_client.rocketmq.stored_message import StoredMessage
from fairlead_client.routes.topic_route import TopicRoute
from fairlead_client.settings.rocketmq_settings import rocketmq_settings

from tests.kit.awaiting import await_seen

WAIT = 20.0


class RocketMQTopic:
    """A topic with so many queues on each broker, made with these options of `rocketmq=`."""

    def __init__(
        self,
        cluster: Any,
        name: str,
        queues: int = 2,
        *,
        brokers: Sequence[str] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.namesrv: str = cluster.namesrv
        self.brokers = Brokers(rocketmq_settings(cluster.namesrv, options or {}))
        self._sender = RocketMQSender(self.brokers, "tests")
        every = [server for server in cluster.servers if server.startswith("broker")]
        names = every if brokers is None else brokers
        self.queues = [Queue(name, broker, number) for broker in names for number in range(queues)]
        fields = {
            "topic": name,
            "defaultTopic": "TBW102",
            "readQueueNums": str(queues),
            "writeQueueNums": str(queues),
            "perm": "6",
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": "0",
            "order": "false",
        }
        for broker in names:
            command = Command(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)
            self.brokers.call(cluster.address(broker), command, WAIT)
        # A broker answers before the name server knows the topic.
        await_seen(
            lambda: self.brokers.route(name), lambda route: _is_whole(route, names), what=name
        )

    def send(self, queue: Queue, bodies: Iterable[bytes], **parts: Any) -> Sequence[int]:
        """Write messages into a queue, in order; return their offsets."""
        target = Target(queue, queue.broker_name)
        sent = []
        for body in bodies:
            message = OutgoingMessage(self.name, body, **parts)
            sent.append(self._sender.send(target, message, 3_000).result(WAIT).offset)
        return sent

    def stored(
        self, queue: Queue, offset: int, address: str | None = None
    ) -> Sequence[StoredMessage]:
        """Return messages of a queue from this offset on, as its broker stores them; or none.

        With an address, of this machine of the broker, which may not know the topic yet.
        """
        subscription = Subscription(self.name)
        command = pull_command("tests", queue, offset, subscription, most=32, suspend_ms=100)
        if address is None:
            at = self.brokers.master(queue.broker_name, self.name)
            return pulled(at, self.brokers.send(at, command).result(WAIT)).messages
        try:
            return pulled(address, self.brokers.send(address, command).result(WAIT)).messages
        except RequestRefusedError:
            return []

    def offsets(self, group: str) -> QueueOffsets:
        """Return the offsets of a group."""
        return QueueOffsets(self.brokers, group)

    def close(self) -> None:
        """Close the connections."""
        self.brokers.close()


def _is_whole(route: TopicRoute | None, brokers: Sequence[str]) -> bool:
    return route is not None and len(route.queue_datas) == len(brokers)
