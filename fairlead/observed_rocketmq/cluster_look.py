"""Looks at the groups of a RocketMQ cluster: every question at once, nothing changed (ADR 0212)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from fairlead_client.remoting.codes import ResponseCode
from fairlead_client.remoting.command import Command
from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import NoResponseError, RequestRefusedError
from fairlead_client.routes.topic_route import PERM_READ, TopicRoute

from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order, queue_order
from fairlead.errors import EnvironmentMissingError
from fairlead.observed_rocketmq.seen_group import FROZEN, SeenGroup, SeenMember, SeenQueue
from fairlead.rocketmq.asking import Answer, Question, ask_all
from fairlead.rocketmq.broker_groups import groups_of, groups_request, topics_of, topics_request
from fairlead.rocketmq.group_connections import (
    ClientConnection,
    GroupConnections,
    connections_request,
    connections_seen,
)
from fairlead.rocketmq.group_offsets import (
    QueueProgress,
    committed_offsets,
    consume_stats,
    consume_stats_request,
    offset_table_request,
)
from fairlead.rocketmq.name_servers import ClusterInfo, NameServers
from fairlead.rocketmq.running_info import RunningInfo, running_info, running_info_request

__all__ = ["ClusterLook"]

_AT_ONCE: Final = 8
"""How many consumers one broker asks for us at once: each keeps one of its threads."""
_SYSTEM: Final = (
    *("CID_RMQ_SYS_", "CID_ONSAPI_", "CID_ONS-HTTP-PROXY", "SELF_TEST_C_GROUP", "TOOLS_CONSUMER"),
    *("FILTERSRV_CONSUMER", "__MONITOR_CONSUMER", "CID_DefaultHeartBeatSyncerTopic"),
)
"""How names of RocketMQ's own groups begin (MixAll, TopicValidator)."""

Views = Mapping[str, GroupConnections | None]


class ClusterLook:
    """Looks at a cluster.

    Args:
        connections: to its servers.
        name_servers: its name servers.
        cluster: the cluster's name, if the name servers know several; None: all brokers.
        answer_s: how long a server may take to answer, in seconds.
        client_s: how long a consumer may take, in seconds; one that takes longer is frozen.
    """

    def __init__(
        self,
        connections: Connections,
        name_servers: NameServers,
        *,
        cluster: str | None = None,
        answer_s: float = 3.0,
        client_s: float = 2.0,
    ) -> None:
        self._connections, self._name_servers = connections, name_servers
        self._cluster, self._answer_s, self._client_s = cluster, answer_s, client_s

    def info(self) -> ClusterInfo:
        """Return the brokers to look at.

        Raises:
            EnvironmentMissingError: no name server answers.
            UsageError: there is no cluster of this name.
        """
        return self._name_servers.cluster_info().named(self._cluster)

    def groups(self, info: ClusterInfo) -> tuple[str, ...]:
        """Return the groups that any broker knows, without RocketMQ's own ones.

        Raises:
            EnvironmentMissingError: no broker answers.
        """
        answers = self._ask([Question(each, groups_request()) for each in info.masters.values()])
        heard = [groups_of(each) for each in answers if isinstance(each, Command)]
        if not heard:
            says = "; ".join(map(str, answers)) or "the name servers know none"
            raise EnvironmentMissingError(
                f"brokers: none answers ({says}).",
                remedy="Check that this machine may connect to the brokers' addresses.",
            )
        names = {name for each in heard for name in each if not name.startswith(_SYSTEM)}
        return tuple(sorted(names))

    def views(self, info: ClusterInfo, groups: Sequence[str]) -> dict[str, Views]:
        """Return group -> broker -> whom it knows (203, from every broker)."""
        places = [(group, broker) for group in groups for broker in info.masters]
        answers = self._ask(
            [Question(info.masters[broker], connections_request(group)) for group, broker in places]
        )
        found: dict[str, dict[str, GroupConnections | None]] = {each: {} for each in groups}
        for (group, broker), answer in zip(places, answers, strict=True):
            found[group][broker] = connections_seen(answer)
        return {**found}

    def look(
        self, info: ClusterInfo, views: Mapping[str, Views], *, owners: bool = True
    ) -> tuple[SeenGroup, ...]:
        """Return the groups of these views with their queues and progress.

        Args:
            info: the brokers.
            views: whom the brokers know, by group.
            owners: ask the consumers what they work on (307).
        """
        topics = self._topics(info, views)
        names = tuple(sorted({topic for each in topics.values() for topic in each}))
        routes = self._name_servers.routes(names)
        queues = {group: _queues(topics[group], routes, info) for group in views}
        progress = self._progress(info, queues)
        infos = self._infos(info, views) if owners else {}
        return tuple(
            SeenGroup(
                name=group,
                members=_members(group, seen, infos),
                queues={
                    queue: progress.get((group, queue), SeenQueue()) for queue in queues[group]
                },
                views=seen,
                partial=tuple(
                    f"the broker {name} does not answer"
                    for name, view in seen.items()
                    if view is None
                ),
            )
            for group, seen in views.items()
        )

    def _ask(self, questions: Sequence[Question]) -> list[Answer]:
        return ask_all(self._connections, questions, self._answer_s)

    def _topics(self, info: ClusterInfo, views: Mapping[str, Views]) -> dict[str, set[str]]:
        """Return what each group subscribes to, and what it has read without being there now."""
        found = {
            group: {topic for view in seen.values() if view for topic in view.subscriptions or ()}
            for group, seen in views.items()
        }
        absent = [group for group, topics in found.items() if not topics]
        places = [(group, address) for group in absent for address in info.masters.values()]
        answers = self._ask([Question(address, topics_request(group)) for group, address in places])
        for (group, _), answer in zip(places, answers, strict=True):
            if isinstance(answer, Command):
                found[group].update(topics_of(answer))
        return found

    def _progress(
        self, info: ClusterInfo, queues: Mapping[str, Sequence[MessageQueue]]
    ) -> dict[tuple[str, MessageQueue], SeenQueue]:
        places = list(
            dict.fromkeys(
                (group, queue.topic, queue.broker_name)
                for group, each in queues.items()
                for queue in each
            )
        )
        stats = self._ask(
            [
                Question(info.masters[broker], consume_stats_request(group, topic))
                for group, topic, broker in places
            ]
        )
        told = {
            (group, queue): each
            for (group, _, _), answer in zip(places, stats, strict=True)
            if isinstance(answer, Command)
            for queue, each in consume_stats(answer).items()
        }
        kept = self._kept(info, told)
        return {
            (group, queue): SeenQueue(each.end, _committed(group, queue, each, kept))
            for (group, queue), each in told.items()
        }

    def _kept(
        self, info: ClusterInfo, told: Mapping[tuple[str, MessageQueue], QueueProgress]
    ) -> dict[str, Mapping[tuple[str, str], Mapping[int, int]]]:
        """Return broker -> its table of offsets, of brokers that count something as 0."""
        brokers = sorted({queue.broker_name for (_, queue), at in told.items() if not at.committed})
        answers = self._ask(
            [Question(info.masters[each], offset_table_request()) for each in brokers]
        )
        return {
            broker: committed_offsets(answer)
            for broker, answer in zip(brokers, answers, strict=True)
            if isinstance(answer, Command)
        }

    def _infos(
        self, info: ClusterInfo, views: Mapping[str, Views]
    ) -> dict[tuple[str, str], RunningInfo | str]:
        """Return (group, client) -> what it says of itself, or why it says nothing.

        A client is asked through one broker that has its connection, the brokers in turn.
        """
        by_broker: dict[str, list[tuple[str, str]]] = {name: [] for name in info.masters}
        for group, seen in views.items():
            through = _through(seen)
            for number, client_id in enumerate(sorted(through)):
                brokers = through[client_id]
                by_broker[brokers[number % len(brokers)]].append((group, client_id))
        rounds = {
            name: [each[at : at + _AT_ONCE] for at in range(0, len(each), _AT_ONCE)]
            for name, each in by_broker.items()
        }
        found: dict[tuple[str, str], RunningInfo | str] = {}
        for turn in range(max(map(len, rounds.values()), default=0)):
            asked = [
                (name, place)
                for name, each in rounds.items()
                if turn < len(each)
                for place in each[turn]
            ]
            questions = [
                Question(info.masters[name], running_info_request(*place)) for name, place in asked
            ]
            answers = ask_all(self._connections, questions, self._client_s)
            for (_, place), answer in zip(asked, answers, strict=True):
                found[place] = _said(answer)
        return found


def _queues(
    topics: Iterable[str],
    routes: Mapping[str, Mapping[str, TopicRoute | None]],
    info: ClusterInfo,
) -> list[MessageQueue]:
    """Return the readable queues in RocketMQ's order (MQClientInstance#topicRouteData2…)."""
    found = {
        MessageQueue(topic, data.broker_name, number)
        for topic in topics
        for route in routes[topic].values()
        if route is not None
        for data in route.queue_datas
        if data.perm & PERM_READ and data.broker_name in info.masters
        for number in range(data.read_queue_nums)
    }
    return sorted(found, key=queue_order)


def _through(seen: Views) -> dict[str, list[str]]:
    """Return client -> the brokers that have its connection."""
    found: dict[str, list[str]] = {}
    for broker, view in seen.items():
        for client_id in {each.client_id for each in view.connections} if view else ():
            found.setdefault(client_id, []).append(broker)
    return found


def _members(
    group: str, seen: Views, infos: Mapping[tuple[str, str], RunningInfo | str]
) -> tuple[SeenMember, ...]:
    connected: dict[str, dict[str, list[ClientConnection]]] = {}
    for broker, view in seen.items():
        for each in view.connections if view else ():
            connected.setdefault(each.client_id, {}).setdefault(broker, []).append(each)
    found = []
    for client_id in sorted(connected, key=java_order):
        by_broker, said = connected[client_id], infos.get((group, client_id), "it was not asked")
        found.append(
            SeenMember(
                client_id=client_id,
                addresses={
                    name: tuple(one.address for one in each) for name, each in by_broker.items()
                },
                language=next(iter(by_broker.values()))[0].language,
                info=None if isinstance(said, str) else said,
                silence=said if isinstance(said, str) else "",
            )
        )
    return tuple(found)


def _said(answer: Answer) -> RunningInfo | str:
    if isinstance(answer, Command):
        return running_info(answer)
    timed_out = (
        isinstance(answer, RequestRefusedError) and answer.code == ResponseCode.CONSUME_MSG_TIMEOUT
    )
    return FROZEN if timed_out or isinstance(answer, NoResponseError) else str(answer)


def _committed(
    group: str,
    queue: MessageQueue,
    told: QueueProgress,
    kept: Mapping[str, Mapping[tuple[str, str], Mapping[int, int]]],
) -> int | None:
    """Return the committed offset; of a broker that counts "none" as 0, what its table says."""
    if told.committed:
        return told.committed
    return kept.get(queue.broker_name, {}).get((queue.topic, group), {}).get(queue.queue_id)
