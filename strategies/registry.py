"""The strategies that rules can choose, by their names on the wire."""

from collections.abc import Mapping
from types import MappingProxyType

from fairlead.core.allocation import Strategy
from strategies.averagely import AVERAGELY
from strategies.averagely_by_circle import AVERAGELY_BY_CIRCLE
from strategies.configured import CONFIGURED
from strategies.consistent_hash import CONSISTENT_HASH
from strategies.dealing import PerTopic
from strategies.machine_room import MACHINE_ROOM
from strategies.machine_room_nearby import MachineRoomNearby
from strategies.sticky import Sticky

__all__ = ["ROCKETMQ", "STRATEGIES"]

_INNER = (AVERAGELY, AVERAGELY_BY_CIRCLE, CONFIGURED, MACHINE_ROOM, CONSISTENT_HASH)

ROCKETMQ: Mapping[str, PerTopic] = MappingProxyType(
    {
        strategy.name: strategy
        for strategy in (*_INNER, MachineRoomNearby({each.name: each.deal for each in _INNER}))
    }
)
"""Wire name -> strategy of RocketMQ."""

STRATEGIES: Mapping[str, Strategy] = MappingProxyType({**ROCKETMQ, Sticky.name: Sticky()})
"""Wire name -> strategy."""
