"""The strategies that rules can choose, by name on the wire."""

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
from strategies.sticky.strategy import Sticky

__all__ = ["ROCKETMQ", "STRATEGIES", "USUAL", "with_own"]

_STICKY = Sticky()
_INNER = (AVERAGELY, AVERAGELY_BY_CIRCLE, CONFIGURED, MACHINE_ROOM, CONSISTENT_HASH)

_NEARBY = MachineRoomNearby({each.name: each.deal for each in _INNER}, {_STICKY.name: _STICKY})

ROCKETMQ: Mapping[str, PerTopic] = MappingProxyType(
    {strategy.name: strategy for strategy in (*_INNER, _NEARBY)}
)
"""Wire name -> one of RocketMQ's strategies."""

STRATEGIES: Mapping[str, Strategy] = MappingProxyType({**ROCKETMQ, _STICKY.name: _STICKY})
"""Wire name -> strategy."""

USUAL = _STICKY.name
"""The default strategy of conf/ for all groups."""


def with_own(own: Mapping[str, Strategy]) -> Mapping[str, Strategy]:
    """Return all strategies together with a user's own, which NEARBY can use in its rooms too."""
    return {**STRATEGIES, **own, _NEARBY.name: _NEARBY.beside(own)} if own else STRATEGIES
