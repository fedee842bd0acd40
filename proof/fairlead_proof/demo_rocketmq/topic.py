"""The demo's topic on RocketMQ: made, enlarged, and its ends looked up."""

from typing import Final

from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import RemotingError

from fairlead.core.model import MessageQueue
from fairlead.errors import EnvironmentMissingError
from fairlead.rocketmq.name_servers import NameServers
from fairlead.rocketmq.queue_offsets import queue_facts

__all__ = ["DemoTopic"]

_ANSWER_S: Final = 20.0


class DemoTopic:
    """A topic on every broker of a cluster.

    Args:
        name: its name.
        connections: to the cluster.
        name_servers: its name servers.
    """

    def __init__(self, name: str, connections: Connections, name_servers: NameServers) -> None:
        self.name = name
        self._connections, self._name_servers = connections, name_servers
        self._queues = 0

    def resize(self, queues: int) -> None:
        """Give it so many queues on each broker; make it, if it is not there (17).

        Raises:
            EnvironmentMissingError: a broker does not do it.
        """
        fields = {
            "topic": self.name,
            "defaultTopic": "TBW102",
            "readQueueNums": str(queues),
            "writeQueueNums": str(queues),
            "perm": "6",
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": "0",
            "order": "false",
        }
        request = Command(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)
        for name, address in sorted(self._masters().items()):
            try:
                self._connections.call(address, request, _ANSWER_S)
            except RemotingError as error:
                raise EnvironmentMissingError(
                    f"rocketmq: {name} does not make topic {self.name} ({error}).",
                    remedy="Read its log in the run's folder; --keep leaves it there.",
                ) from error
        self._queues = queues

    def queues(self) -> list[MessageQueue]:
        """All its queues, in order, as it was made."""
        return [
            MessageQueue(self.name, broker, number)
            for broker in sorted(self._masters())
            for number in range(self._queues)
        ]

    def ends(self) -> dict[MessageQueue, int]:
        """The offset of the next message of each queue.

        Raises:
            EnvironmentMissingError: a broker does not tell.
        """
        wanted = self.queues()
        facts = queue_facts(self._connections, self._masters(), "demo-ends", wanted)
        unknown = [queue for queue in wanted if queue not in facts]
        if unknown:
            raise EnvironmentMissingError(
                f"rocketmq: {unknown[0].broker_name} does not tell the end of {unknown[0]}.",
                remedy="Read its log in the run's folder; --keep leaves it there.",
            )
        return {queue: facts[queue].latest for queue in wanted}

    def _masters(self) -> dict[str, str]:
        return dict(self._name_servers.cluster_info().masters)
