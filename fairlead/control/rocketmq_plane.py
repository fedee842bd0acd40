"""A cluster of RocketMQ as commands ask it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import RemotingError

from fairlead.control.data_plane import QueueLook
from fairlead.core.model import MessageQueue, Position, Route
from fairlead.errors import EnvironmentMissingError
from fairlead.rocketmq.asking import Answer, Question, ask_all
from fairlead.rocketmq.broker_groups import groups_of, groups_request
from fairlead.rocketmq.group_offsets import committed_offsets, offset_table_request
from fairlead.rocketmq.name_servers import ClusterInfo, NameServers
from fairlead.rocketmq.queue_offsets import queue_facts

__all__ = ["RocketMQPlane"]

_ANSWER_S: Final = 5.0
_MASTER: Final = 0


class RocketMQPlane:
    """Look-ups on one cluster of RocketMQ; only masters say where a group is.

    Args:
        connections: to all servers.
        name_servers: their addresses, host:port each.
        cluster: the cluster's name, if the name servers know several; None: all brokers.
    """

    def __init__(
        self, connections: Connections, name_servers: tuple[str, ...], cluster: str | None
    ) -> None:
        self.connections = connections
        self._name_servers = NameServers(connections, name_servers, _ANSWER_S)
        self._cluster = cluster

    def brokers(self) -> ClusterInfo:
        """Return the brokers of the cluster.

        Raises:
            EnvironmentMissingError: no name server answers.
            UsageError: the name servers know no such cluster.
        """
        return self._name_servers.cluster_info().named(self._cluster)

    def masters(self) -> dict[str, str]:
        """Return broker name -> address of its master.

        Raises:
            EnvironmentMissingError: no name server answers, or a broker is without its master.
            UsageError: the name servers know no such cluster.
        """
        addresses = self.brokers().addresses
        for name, by_id in addresses.items():
            if _MASTER not in by_id:
                raise self.unanswered(f"the broker {name} is without its master")
        return {name: by_id[_MASTER] for name, by_id in addresses.items()}

    def groups(self) -> list[str] | None:
        """Return the names of the groups that brokers know; None if that failed."""
        try:
            heard = [groups_of(each) for _, each in self.ask_masters(groups_request())]
        except EnvironmentMissingError:
            return None
        return sorted({group for groups in heard for group in groups})

    def committed_topics(self, group: str) -> list[str]:
        """Return the existing topics in which a group has committed anything.

        Brokers of 4.x keep offsets of deleted topics, so the name servers say which ones exist.

        Raises:
            EnvironmentMissingError: a broker does not answer.
        """
        committed = {
            topic
            for _, answer in self.ask_masters(offset_table_request())
            for (topic, whose), offsets in committed_offsets(answer).items()
            if whose == group and offsets
        }
        return sorted(committed & {*self._name_servers.topics()})

    def look(
        self, group: str, route: Route, queues: Sequence[MessageQueue], times: Sequence[int]
    ) -> Mapping[MessageQueue, QueueLook]:
        """Return what these queues of one route hold, and where the group is in them.

        Raises:
            EnvironmentMissingError: the cluster does not say it of each queue, or lacks a broker of
                the route.
        """
        masters, found = self.masters(), dict[MessageQueue, QueueLook]()
        for broker in route.brokers:
            if broker.broker_name not in masters:
                raise EnvironmentMissingError(
                    f"{route.topic}: the name servers do not know its broker {broker.broker_name}.",
                    remedy="Check --namesrv and --cluster-name, and that the broker runs.",
                )
        for_times: dict[MessageQueue, dict[int, int]] = {queue: {} for queue in queues}
        for time in (*times, None):
            facts = queue_facts(
                self.connections, masters, group, queues, timestamp_ms=time, timeout_s=_ANSWER_S
            )
            for queue in queues:
                if queue not in facts:
                    raise self.unanswered(
                        f"it did not say the offsets of {'/'.join(map(str, queue))}"
                    )
                seen = facts[queue]
                if time is not None and seen.for_time is not None:
                    for_times[queue][time] = seen.for_time
                own = None if seen.committed is None else Position(0, seen.committed)
                found[queue] = QueueLook(seen.earliest, seen.latest, own, for_times[queue])
        return found

    def unanswered(self, says: str) -> EnvironmentMissingError:
        """Return the error of a question that the cluster did not answer."""
        return EnvironmentMissingError(
            f"RocketMQ: {says}.",
            remedy="Check that all brokers run, and that this machine may connect to them.",
        )

    def ask_masters(self, command: Command) -> Iterator[tuple[str, Command]]:
        """Yield broker name and answer of every master.

        Raises:
            EnvironmentMissingError: one does not answer.
        """
        masters = self.masters()
        answers = self.ask([Question(address, command) for address in masters.values()])
        for name, answer in zip(masters, answers, strict=True):
            if isinstance(answer, RemotingError):
                raise self.unanswered(f"{name} does not answer ({answer})")
            yield name, answer

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Return the answers in the order of the questions."""
        return ask_all(self.connections, questions, _ANSWER_S)
