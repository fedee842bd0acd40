"""A target of a producer: a queue, the broker that takes its messages, and its zone."""

from typing import NamedTuple

from fairlead_client.model import Queue
from fairlead_client.routes.publish_info import TopicPublishInfo
from fairlead_client.routes.topic_route import QueueData, TopicRoute


class Target(NamedTuple):
    """A queue to write to.

    `broker` is the one to avoid after a slow or failed sending: on RocketMQ the broker's name, on
    Kafka the node that leads the partition; None: no node leads it now.
    """

    queue: Queue
    broker: str | None
    zone: str | None = None


def targets(info: TopicPublishInfo, route: TopicRoute) -> tuple[Target, ...]:
    """Return the queues of a topic's publish info, in its order, with brokers and zones.

    >>> from fairlead_client.routes.publish_info import publish_info
    >>> from fairlead_client.routes.topic_route import BrokerData
    >>> share = QueueData("main", 2, 2, 6, leaders=("1", None), zones=("a", None))
    >>> route = TopicRoute((share,), (BrokerData("main", addresses={0: "k:9092"}),))
    >>> [target.broker for target in targets(publish_info("orders", route), route)]
    ['1', None]
    """
    shares: dict[str, QueueData] = {}
    for share in route.queue_datas:
        shares.setdefault(share.broker_name, share)
    return tuple(_target(queue, shares.get(queue.broker_name)) for queue in info.queues)


def _target(queue: Queue, share: QueueData | None) -> Target:
    if share is None:
        return Target(queue, queue.broker_name)
    broker = queue.broker_name if share.leaders is None else _nth(share.leaders, queue.queue_id)
    return Target(queue, broker, _nth(share.zones or (), queue.queue_id))


def _nth(labels: tuple[str | None, ...], number: int) -> str | None:
    return labels[number] if number < len(labels) else None
