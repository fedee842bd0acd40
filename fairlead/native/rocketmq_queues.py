"""The queues that groups of RocketMQ read, with their ends and the groups' offsets."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from fairlead_client.remoting.connections import Connections
from fairlead_client.remoting.remoting_error import RemotingError
from fairlead_client.routes.topic_route import PERM_READ, TopicRoute

from fairlead.core.model import MessageQueue
from fairlead.rocketmq.answer_reading import read_answer
from fairlead.rocketmq.asking import Question, ask_all
from fairlead.rocketmq.group_offsets import (
    QueueProgress,
    committed_offsets,
    consume_stats,
    consume_stats_request,
    offset_table_request,
)
from fairlead.rocketmq.name_servers import NameServers
from fairlead.wire.limits import ROUTE_QUEUES_MAX

__all__ = ["QueuesSeen", "queues_seen"]

_Places = tuple[str, MessageQueue]
"""A group and a queue."""


@dataclass(slots=True)
class QueuesSeen:
    """The queues of one group.

    Attributes:
        queues: those that routes have.
        ends: where each ends, as far as brokers say.
        committed: the group's offsets; a queue that the group has never committed is missing.
        unread: what is left out.
    """

    queues: list[MessageQueue]
    ends: dict[MessageQueue, int] = field(default_factory=dict)
    committed: dict[MessageQueue, int] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


def queues_seen(
    connections: Connections,
    name_servers: NameServers,
    masters: Mapping[str, str],
    subscribed: Mapping[str, AbstractSet[str]],
    *,
    brokers: AbstractSet[str],
    answer_s: float,
) -> dict[str, QueuesSeen]:
    """Return the queues of groups, by group.

    Args:
        connections: to the servers.
        name_servers: they know the routes.
        masters: broker name -> address, of the brokers that are asked.
        subscribed: what each group subscribes to. Of a group without topics, what it has read.
        brokers: whose queues count, even if nobody asks them.
        answer_s: how long a broker may take, in seconds.
    """
    topics, unread = _topics(connections, masters, subscribed, answer_s)
    names = tuple(sorted({topic for each in topics.values() for topic in each}))
    routes = name_servers.routes(names).routes
    numbers = {topic: _numbers(each.values(), brokers) for topic, each in routes.items()}
    found = {group: _queues(each, numbers, unread[group]) for group, each in topics.items()}
    told = _told(connections, masters, found, answer_s)
    kept = _kept(connections, masters, told, answer_s)
    for (group, queue), each in told.items():
        seen = found[group]
        seen.ends[queue] = each.end
        committed = each.committed or kept.get(queue.broker_name, {}).get(
            (queue.topic, group), {}
        ).get(queue.queue_id)
        if committed is not None:
            seen.committed[queue] = committed
    return found


def _topics(
    connections: Connections,
    masters: Mapping[str, str],
    subscribed: Mapping[str, AbstractSet[str]],
    answer_s: float,
) -> tuple[dict[str, set[str]], dict[str, tuple[str, ...]]]:
    """Return the topics of each group, and which brokers do not say what a group has read (208).

    Brokers of 4.x do not know the request for the topics alone (343).
    """
    found = {group: {*topics} for group, topics in subscribed.items()}
    unread: dict[str, tuple[str, ...]] = dict.fromkeys(found, ())
    absent = [group for group, topics in found.items() if not topics]
    places = [(group, broker) for group in absent for broker in masters]
    questions = [Question(masters[at], consume_stats_request(group, None)) for group, at in places]
    answers = ask_all(connections, questions, answer_s)
    for (group, broker), answer in zip(places, answers, strict=True):
        stats = read_answer(masters[broker], answer, consume_stats)
        if isinstance(stats, RemotingError):
            unread[group] += (f"the broker {broker} does not say what the group has read",)
        else:
            found[group].update(queue.topic for queue in stats)
    return found, unread


def _numbers(routes: Iterable[TopicRoute | None], brokers: AbstractSet[str]) -> dict[str, int]:
    """Return broker -> its readable queues (MQClientInstance#topicRouteData2TopicSubscribeInfo)."""
    found: dict[str, int] = {}
    for route in routes:
        for data in () if route is None else route.queue_datas:
            if data.perm & PERM_READ and data.broker_name in brokers:
                found[data.broker_name] = max(data.read_queue_nums, found.get(data.broker_name, 0))
    return found


def _queues(
    topics: Iterable[str], numbers: Mapping[str, Mapping[str, int]], unread: tuple[str, ...]
) -> QueuesSeen:
    """Return the queues of topics; of one that has too many, the first ones of each broker."""
    queues: list[MessageQueue] = []
    for topic in sorted(topics):
        of_topic, limit = numbers[topic], ROUTE_QUEUES_MAX
        if sum(of_topic.values()) > ROUTE_QUEUES_MAX:
            unread += (f"{topic} has more than {limit} queues; those above are left out",)
            limit //= len(of_topic)
        queues += [
            MessageQueue(topic, broker, number)
            for broker, count in of_topic.items()
            for number in range(min(count, limit))
        ]
    return QueuesSeen(queues, unread=unread)


def _told(
    connections: Connections,
    masters: Mapping[str, str],
    found: Mapping[str, QueuesSeen],
    answer_s: float,
) -> dict[_Places, QueueProgress]:
    """Return what brokers say of each queue (208)."""
    places = list(
        dict.fromkeys(
            (group, queue.topic, queue.broker_name)
            for group, seen in found.items()
            for queue in seen.queues
            if queue.broker_name in masters
        )
    )
    questions = [
        Question(masters[broker], consume_stats_request(group, topic))
        for group, topic, broker in places
    ]
    answers = ask_all(connections, questions, answer_s)
    return {
        (group, queue): each
        for (group, _, broker), answer in zip(places, answers, strict=True)
        if not isinstance(
            stats := read_answer(masters[broker], answer, consume_stats), RemotingError
        )
        for queue, each in stats.items()
    }


def _kept(
    connections: Connections,
    masters: Mapping[str, str],
    told: Mapping[_Places, QueueProgress],
    answer_s: float,
) -> dict[str, Mapping[tuple[str, str], Mapping[int, int]]]:
    """Return broker -> its table of offsets (43), of brokers that count something as 0.

    A broker says 0 of a queue that the group has never committed, too.
    """
    brokers = sorted({queue.broker_name for (_, queue), at in told.items() if not at.committed})
    questions = [Question(masters[each], offset_table_request()) for each in brokers]
    answers = ask_all(connections, questions, answer_s)
    return {
        broker: table
        for broker, answer in zip(brokers, answers, strict=True)
        if not isinstance(
            table := read_answer(masters[broker], answer, committed_offsets), RemotingError
        )
    }
