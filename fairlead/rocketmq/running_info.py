"""What a consumer says of itself, through the broker that has its connection (307)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairlead_client.remoting.codes import RequestCode
from fairlead_client.remoting.command import Command

from fairlead.core.model import MessageQueue
from fairlead.rocketmq.answer_reading import body_of, counted_from, queue_of, table_of

__all__ = ["HeldQueue", "RunningInfo", "running_info", "running_info_request"]

_STRATEGY = "allocateMessageQueueStrategy"
_OF_FAIRLEAD = "HeldQueues"
"""The class in fairlead-rocketmq that gives RocketMQ what the engine has granted."""


@dataclass(frozen=True, slots=True)
class HeldQueue:
    """A queue that a consumer works on (ProcessQueueInfo).

    Attributes:
        committed: its committed offset, as the client remembers it.
        waiting: how many messages the client holds.
    """

    committed: int
    waiting: int


@dataclass(frozen=True, slots=True)
class RunningInfo:
    """What a consumer says of itself (ConsumerRunningInfo).

    Attributes:
        queues: what it works on. A queue that it has dropped stays in RocketMQ's table for a while
            (`droped`); such ones are left out.
        strategy: the simple name of the class that shares the queues; "": unknown.
        version: the client's version in words.
        ordered: it consumes each queue in order.
        subscriptions: topic -> filter, of this client alone.
        pops: it takes messages by POP from every queue, and owns none (5.x, ``mqPopTable``).
    """

    queues: Mapping[MessageQueue, HeldQueue]
    strategy: str
    version: str
    ordered: bool
    subscriptions: Mapping[str, str]
    pops: bool = False


def running_info_request(group: str, client_id: str) -> Command:
    """Return the request for what a client says of itself, without its stacks."""
    fields = {"consumerGroup": group, "clientId": client_id, "jstackEnable": "false"}
    return Command(RequestCode.GET_CONSUMER_RUNNING_INFO, fields)


def running_info(answer: Command) -> RunningInfo:
    """Return what a client has answered.

    Raises:
        EnvironmentMissingError: the answer does not have its form.
    """
    body = body_of(answer, "running info")
    properties = table_of(body, "properties")
    queues: dict[MessageQueue, HeldQueue] = {}
    for key, value in table_of(body, "mqTable").items():
        if not (value.get("droped") or value.get("dropped")):
            queues[queue_of(key)] = HeldQueue(
                committed=counted_from(value, "commitOffset"),
                waiting=counted_from(value, "cachedMsgCount"),
            )
    return RunningInfo(
        queues=queues,
        strategy=_strategy(_simple_name(properties.get(_STRATEGY))),
        version=str(properties.get("PROP_CLIENT_VERSION") or ""),
        ordered=str(properties.get("PROP_CONSUMEORDERLY")).lower() == "true",
        subscriptions={
            str(each.get("topic")): str(each.get("subString") or "*")
            for each in body.get("subscriptionSet") or []
        },
        pops=bool(table_of(body, "mqPopTable")),
    )


def _strategy(name: str) -> str:
    """Return the strategy by the name that users know; Fairlead's members have none."""
    return "Fairlead" if name == _OF_FAIRLEAD else name


def _simple_name(written: Any) -> str:
    """Return the class of an object as `Object#toString` writes it: package.Class@hash."""
    return str(written or "").partition("@")[0].rpartition(".")[2]
