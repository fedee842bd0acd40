"""The strategies that rules can choose, by their names on the wire."""

from collections.abc import Mapping
from types import MappingProxyType

from fairlead.core.allocation import Strategy
from strategies.averagely import Averagely

__all__ = ["STRATEGIES"]

STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {strategy.name: strategy for strategy in (Averagely(),)}
)
"""Wire name -> strategy."""
