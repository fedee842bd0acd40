"""The route of a topic while only the default topic's route (TBW102) is known."""

from dataclasses import replace
from typing import Final

from fairlead_client.routes.topic_route import TopicRoute

DEFAULT_TOPIC_QUEUE_NUMS: Final = 4
"""DefaultMQProducer.defaultTopicQueueNums."""


def from_default_route(
    default: TopicRoute, queue_nums: int = DEFAULT_TOPIC_QUEUE_NUMS
) -> TopicRoute:
    """Return the route of a topic that does not exist yet, from the default topic's route.

    Each share gets min(queue_nums, readQueueNums) queues to read and to write
    (MQClientInstance#updateTopicRouteInfoFromNameServer).
    """
    shares = []
    for share in default.queue_datas:
        count = min(queue_nums, share.read_queue_nums)
        shares.append(replace(share, read_queue_nums=count, write_queue_nums=count))
    return replace(default, queue_datas=tuple(shares))
