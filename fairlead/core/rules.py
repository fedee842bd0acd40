"""The rules under which a group is stepped, as values.

Decides which value of a rule is in force (group over all groups over default), and which rule records are acceptable.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairlead.core.allocation import Strategy

__all__ = ["CHAIN_CAP", "EngineRules", "GroupRules", "Moment"]

CHAIN_CAP = 1
"""How many unresolved grants a queue may have: 1 = a successor is granted only after the release."""


@dataclass(frozen=True, slots=True)
class GroupRules:
    """The rules of one group. Times in milliseconds of the shard's clock."""

    strategy: str = "AVG"
    strategy_options: Mapping[str, Any] = field(default_factory=dict)
    lease_ms: int = 10_000
    margin_ms: int = 3_000
    trigger_ms: int = 20_000
    drain_deadline_ms: int = 30_000
    slots: str = "subscribers"


@dataclass(frozen=True, slots=True)
class EngineRules:
    """What the driver gives to every step: its generation, the strategies it knows, and limits.

    ``defaults`` are the rules of a group that has none of its own, after the rules set for every group. ``auto_create``:
    whether a heartbeat may create its group. ``evict_after_ms``: how long a group without members is remembered.
    """

    generation: int
    strategies: Mapping[str, Strategy]
    defaults: GroupRules = field(default_factory=GroupRules)
    auto_create: bool = True
    evict_after_ms: int = 600_000
    chain_cap: int = CHAIN_CAP


@dataclass(frozen=True, slots=True)
class Moment:
    """The now of a step: the shard's clock and newest append time after the last record, and what had been read.

    ``marker`` is the highest generation of which a tick was read; ``shard``, ``step`` and ``positions`` make the cut.
    """

    clock_ms: int
    append_ms: int
    marker: int
    shard: int = 0
    step: int = 1
    positions: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
