"""The queues of a topic that producers write (MQClientInstance#topicRouteData2TopicPublishInfo)."""

from dataclasses import dataclass

from fairlead_client.model import Queue
from fairlead_client.routes.java_order import java_order
from fairlead_client.routes.order_topic_conf import read_order_topic_conf
from fairlead_client.routes.route_limits import check_queues
from fairlead_client.routes.static_topic import endpoints
from fairlead_client.routes.topic_route import (
    PERM_WRITE,
    BrokerData,
    QueueData,
    TopicRoute,
    incomplete_route,
)


@dataclass(frozen=True, slots=True)
class TopicPublishInfo:
    """What a producer knows of a topic.

    Attributes:
        ordered: whether the topic's configuration fixes its queues (orderTopic).
        queues: the queues to write to, in the order of their turns.
        have_route: whether a route is known (haveTopicRouterInfo). With a route and no queues,
            RocketMQ's producer does not ask for the default topic's route.
    """

    ordered: bool = False
    queues: tuple[Queue, ...] = ()
    have_route: bool = False


def publish_info(topic: str, route: TopicRoute) -> TopicPublishInfo:
    """Return the queues of a route that producers write to.

    With an orderTopicConf: only the queues that it names, in its order. Else, with orderTopicConf
    null and a static topic's mapping: all logical queues, by their ids. Else queues 0 to
    writeQueueNums - 1 of each share that has the write bit and a broker with a master, sorted by
    broker name; of two brokers with one name the first decides.

    Raises:
        RouteError: RocketMQ throws here; the code names the rule, see RouteError.

    >>> route = TopicRoute((QueueData("b", 4, 2, 6),), (BrokerData("b", addresses={0: "b:10911"}),))
    >>> [queue.queue_id for queue in publish_info("orders", route).queues]
    [0, 1]
    """
    if route.order_topic_conf:
        named = read_order_topic_conf(route.order_topic_conf)
        check_queues("orderTopicConf", (count for _, count in named))
        queues = (
            Queue(topic, broker, number) for broker, count in named for number in range(count)
        )
        return TopicPublishInfo(ordered=True, queues=tuple(queues), have_route=True)
    if route.order_topic_conf is None and route.mappings:
        return TopicPublishInfo(queues=tuple(endpoints(topic, route.mappings)), have_route=True)
    shares = _writable(route)
    check_queues("queueDatas", (share.write_queue_nums for share in shares))
    queues = (
        Queue(topic, share.broker_name, number)
        for share in shares
        for number in range(share.write_queue_nums)
    )
    return TopicPublishInfo(queues=tuple(queues), have_route=True)


def _writable(route: TopicRoute) -> list[QueueData]:
    route.require("queueDatas")
    brokers: dict[str, BrokerData] = {}
    for broker in route.broker_datas:
        brokers.setdefault(broker.broker_name, broker)
    writable = []
    for share in sorted(route.queue_datas, key=lambda share: java_order(share.broker_name)):
        if not share.perm & PERM_WRITE:
            continue
        route.require("brokerDatas")
        broker_data = brokers.get(share.broker_name)
        if broker_data is None:
            continue
        if not broker_data.addresses_told:
            raise incomplete_route(f"brokerDatas.{share.broker_name}.brokerAddrs")
        if broker_data.has_master:
            writable.append(share)
    return writable
