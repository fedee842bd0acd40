"""The route of RocketMQ's default topic, which producers use for topics that have no route yet.

RocketMQ's brokers register TBW102 if they create topics automatically (TopicConfigManager). A
producer without a route for its topic uses this one, with at most its own ``defaultTopicQueueNums``
queues per broker (MQClientInstance, where it updates a route). It is not a topic: Kafka has none of
this name, and no group can subscribe to it.

ADR 0134 gives the reasons.
"""

from typing import Final

from fairlead.core.model import Route, RouteBroker
from fairlead.wire.texts import DEFAULT_TOPIC

__all__ = ["default_route"]

PERM_READ_WRITE_INHERIT: Final = 7
"""PermName: READ 4, WRITE 2 and INHERIT 1; topics created from it do not have INHERIT."""
_IDENTITY: Final = "default"
"""It never changes its identity."""


def default_route(cluster: str, address: str, queue_nums: int) -> Route:
    """Return the default route of a cluster.

    Args:
        cluster: the broker name of all its queues.
        address: where clients connect to it.
        queue_nums: queues for reading and for writing (TopicConfig.defaultReadQueueNums).
    """
    broker = RouteBroker(
        broker_name=cluster,
        perm=PERM_READ_WRITE_INHERIT,
        read_queue_nums=queue_nums,
        write_queue_nums=queue_nums,
        cluster=cluster,
        addresses={"0": address},
    )
    return Route(DEFAULT_TOPIC, _IDENTITY, (broker,))
