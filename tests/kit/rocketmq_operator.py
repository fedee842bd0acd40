"""Topics, messages, groups and commits on a real RocketMQ, made as its own tools make them."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import orjson
from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connection import ConnectionSettings
from fairlead_client.remoting.connections import Connections

from fairlead.control.rocketmq_plane import RocketMQPlane
from fairlead.core.model import MessageQueue
from fairlead.rocketmq.group_offsets import committed_offsets, offset_table_request
from fairlead.rocketmq.name_servers import addresses_of
from fairlead.rocketmq.queue_offsets import commit_request
from tests.kit.awaiting import await_seen

if TYPE_CHECKING:
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

__all__ = ["RocketMQOperator"]

_DELETE_IN_BROKER, _DELETE_IN_NAME_SERVER = 215, 216
"""RequestCode.DELETE_TOPIC_IN_BROKER and DELETE_TOPIC_IN_NAMESRV."""
_CALL_S = 20.0


class RocketMQOperator:
    """An operator and a producer of one cluster; close it at the end."""

    def __init__(
        self, cluster: "EmbeddedRocketMQ", connection: ConnectionSettings | None = None
    ) -> None:
        self.cluster = cluster
        self._connections = Connections(connection or ConnectionSettings(call_s=_CALL_S))

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    def plane(self) -> RocketMQPlane:
        """Return the cluster as commands ask it."""
        return RocketMQPlane(self._connections, addresses_of(self.cluster.namesrv), "main")

    def make(self, topic: str, queues: int, brokers: Sequence[str], *, perm: int = 6) -> None:
        """Make a topic with so many queues on each of these brokers, or change it."""
        fields = {
            "topic": topic,
            "defaultTopic": "TBW102",
            "readQueueNums": str(queues),
            "writeQueueNums": str(queues),
            "perm": str(perm),
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": "0",
            "order": "false",
        }
        for broker in brokers:
            self.ask(broker, Command(RequestCode.UPDATE_AND_CREATE_TOPIC, fields))

    def delete(self, topic: str, brokers: Sequence[str]) -> None:
        """Delete a topic, as `mqadmin deleteTopic` does."""
        for broker in brokers:
            self.ask(broker, Command(_DELETE_IN_BROKER, {"topic": topic}))
        for server in self.cluster.namesrv.split(";"):
            self._connections.call(server, Command(_DELETE_IN_NAME_SERVER, {"topic": topic}))

    def make_group(self, group: str, brokers: Sequence[str]) -> None:
        """Make a group, as its first consumer would."""
        body = orjson.dumps({"groupName": group})
        for broker in brokers:
            self.ask(broker, Command(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body))

    def send(self, queue: MessageQueue, number: int = 1) -> None:
        """Send messages to a queue; return when its broker counts them."""
        # SendMessageRequestHeaderV2 abbreviates its names to letters.
        fields = {
            "a": "producers",
            "b": queue.topic,
            "c": "TBW102",
            "d": "4",
            "e": str(queue.queue_id),
            "f": "0",
            "g": str(int(time.time() * 1000)),
            "h": "0",
            "i": "",
        }
        before = self.end(queue)
        for _ in range(number):
            self.ask(queue.broker_name, Command(RequestCode.SEND_MESSAGE_V2, fields, body=b"x"))
        await_seen(lambda: self.end(queue) >= before + number, what="all messages are counted")

    def end(self, queue: MessageQueue) -> int:
        """Return the offset of a queue's next message."""
        fields = {"topic": queue.topic, "queueId": str(queue.queue_id)}
        answer = self.ask(queue.broker_name, Command(RequestCode.GET_MAX_OFFSET, fields))
        return int(answer.fields["offset"])

    def commit(self, group: str, queue: MessageQueue, offset: int) -> None:
        """Commit an offset of a group."""
        self.ask(queue.broker_name, commit_request(group, queue, offset))

    def committed(self, group: str, queue: MessageQueue) -> int | None:
        """Return a group's offset of a queue; None: it has committed nothing."""
        table = committed_offsets(self.ask(queue.broker_name, offset_table_request()))
        return table.get((queue.topic, group), {}).get(queue.queue_id)

    def ask(self, broker: str, command: Command) -> Command:
        """Send a request to a broker, and return its answer."""
        return self._connections.call(self.cluster.address(broker), command)
