"""The queues of a topic that consumers read.

Source: MQClientInstance#topicRouteData2TopicSubscribeInfo.
"""

from fairlead_client.model import Queue
from fairlead_client.routes.java_order import java_order
from fairlead_client.routes.route_limits import check_queues
from fairlead_client.routes.static_topic import endpoints
from fairlead_client.routes.topic_route import PERM_READ, TopicRoute


def subscribe_info(topic: str, route: TopicRoute) -> tuple[Queue, ...]:
    """Return the queues of a route that consumers read, each once, in RocketMQ's order.

    With a static topic's mapping: all logical queues. Else queues 0 to readQueueNums - 1 of each
    share with the read bit. This needs neither a master nor the broker's data, and orderTopicConf
    does not matter.

    Raises:
        RouteError: the shares are missing (`route_incomplete`), or there are too many queues.
    """
    if route.mappings:
        return tuple(sorted(endpoints(topic, route.mappings), key=_order))
    route.require("queueDatas")
    shares = [share for share in route.queue_datas if share.perm & PERM_READ]
    check_queues("queueDatas", (share.read_queue_nums for share in shares))
    queues = {
        Queue(topic, share.broker_name, number)
        for share in shares
        for number in range(share.read_queue_nums)
    }
    return tuple(sorted(queues, key=_order))


def _order(queue: Queue) -> tuple[bytes, int]:
    return java_order(queue.broker_name), queue.queue_id
