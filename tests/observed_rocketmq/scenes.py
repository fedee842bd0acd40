"""Groups of RocketMQ as a look may see them."""

from collections.abc import Mapping, Sequence

from fairlead.core.model import MessageQueue
from fairlead.observed_rocketmq.seen_group import FROZEN, SeenGroup, SeenMember, SeenQueue
from fairlead.rocketmq.group_connections import ClientConnection, GroupConnections
from fairlead.rocketmq.running_info import HeldQueue, RunningInfo

AVG = "AllocateMessageQueueAveragely"


def queue(number: int, topic: str = "orders") -> MessageQueue:
    """Return a queue of the one broker."""
    return MessageQueue(topic, "broker-a", number)


def member(
    name: str,
    numbers: Sequence[int],
    *,
    addresses: Sequence[str] = ("h:1",),
    strategy: str = AVG,
    filters: Mapping[str, str] | None = None,
) -> SeenMember:
    """Return a member that works on queues of `orders`."""
    info = RunningInfo(
        queues={queue(number): HeldQueue(0, 0) for number in numbers},
        strategy=strategy,
        version="V4_9_8",
        ordered=False,
        subscriptions=filters or {"orders": "*"},
    )
    return SeenMember(name, {"broker-a": tuple(addresses)}, info=info)


def frozen(name: str) -> SeenMember:
    """Return a member that does not answer."""
    return SeenMember(name, {"broker-a": ("h:1",)}, silence=FROZEN)


def group(*members: SeenMember, queues: int = 4, model: str = "CLUSTERING") -> SeenGroup:
    """Return a group that reads this many queues of `orders`, each with 10 messages waiting."""
    connections = tuple(
        ClientConnection(each.client_id, address, "JAVA", 409)
        for each in members
        for address in each.addresses.get("broker-a", ())
    )
    return SeenGroup(
        name="g",
        members=members,
        queues={queue(number): SeenQueue(end=30, committed=20) for number in range(queues)},
        views={"broker-a": GroupConnections(connections, {}, model, "CONSUME_PASSIVELY")},
    )
