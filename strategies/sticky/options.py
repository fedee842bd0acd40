"""Reads and checks the options of STICKY, which come from a rule.

A queue is written ``[topic, broker name, queue id]``. An unknown option is an error, because it may
be a typing mistake.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fairlead.core.allocation import Placement
from fairlead.core.model import MessageQueue
from fairlead.core.rules.single_rules import read_decimal
from strategies.options import mapping_of, pairs_of, sequence_of, text_of, wrong_option
from strategies.sticky.effort import EFFORT
from strategies.zones import ZONE_OPTIONS, Zones, read_zones

__all__ = ["StickyOptions", "sticky_options"]

DAMPING = 0.1
_CAPACITY_MIN = 1e-9
_NUMBER_MAX = 1e15
"""Outside these bounds a load could become infinite."""
_FIELDS = tuple(
    sorted(
        (
            *ZONE_OPTIONS,
            "bans",
            "capacity",
            "damping",
            "drained",
            "effort",
            "pins",
            "weights",
            "zone_first",
        )
    )
)


@dataclass(frozen=True, slots=True)
class StickyOptions:
    """The options of STICKY.

    ``pins``: the clients of a queue, in order of preference. ``bans``: clients that must not get a
    queue. ``effort``: the steps (strategies.sticky.effort) after which the best result so far is
    the answer.
    """

    zones: Zones = field(default_factory=Zones)
    zone_first: bool = False
    weights: Mapping[MessageQueue, float] = field(default_factory=dict)
    capacity: Mapping[str, float] = field(default_factory=dict)
    damping: float = DAMPING
    pins: Mapping[MessageQueue, tuple[str, ...]] = field(default_factory=dict)
    bans: Mapping[MessageQueue, frozenset[str]] = field(default_factory=dict)
    drained: frozenset[str] = frozenset()
    effort: int = EFFORT

    def under(self, placement: Placement) -> "StickyOptions":
        """Return the options, overridden by the rules for single queues and clients."""
        return replace(
            self,
            pins={**self.pins, **{queue: (name,) for queue, name in placement.pins.items()}},
            bans={**self.bans, **{at: frozenset(ids) for at, ids in placement.bans.items()}},
            weights={**self.weights, **placement.weights},
            capacity={**self.capacity, **placement.capacities},
        )


def sticky_options(options: Mapping[str, Any]) -> StickyOptions:
    """Return the checked options.

    Raises: AllocationError: ``bad_option``, worded "<field>: what is wrong and what is expected".
    """
    for name in options:
        if name not in _FIELDS:
            raise wrong_option(str(name), "unknown; expected one of " + ", ".join(_FIELDS))
    zone_first = options.get("zone_first", False)
    if not isinstance(zone_first, bool):
        raise wrong_option("zone_first", f"{zone_first!r} is not true or false")
    return StickyOptions(
        zones=read_zones(options),
        zone_first=zone_first,
        weights={
            queue: _number(place, weight)
            for place, queue, weight in pairs_of(options, "weights", "number")
        },
        capacity={
            client_id: _number("capacity", number, _CAPACITY_MIN)
            for client_id, number in mapping_of(options, "capacity").items()
        },
        damping=_number("damping", options.get("damping", DAMPING)),
        pins={queue: tuple(clients) for queue, clients in _clients(options, "pins").items()},
        bans={queue: frozenset(clients) for queue, clients in _clients(options, "bans").items()},
        drained=frozenset(text_of("drained", one) for one in sequence_of(options, "drained")),
        effort=_whole("effort", options.get("effort", EFFORT)),
    )


def _number(name: str, value: Any, least: float = 0) -> float:
    # Rules cannot hold fractions, so they write them as text.
    if isinstance(value, str):
        decimal = read_decimal(value)
        value = value if decimal is None else decimal
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not least <= value <= _NUMBER_MAX
    ):
        expected = f"expected a number from {least:g} to {_NUMBER_MAX:g}"
        raise wrong_option(name, f"{value!r} is out of range; {expected}")
    return value


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _NUMBER_MAX:
        raise wrong_option(name, f"{value!r} is out of range; expected a whole number from 0")
    return value


def _clients(options: Mapping[str, Any], name: str) -> dict[MessageQueue, list[str]]:
    clients: dict[MessageQueue, list[str]] = {}
    for place, queue, client_id in pairs_of(options, name, "client"):
        clients.setdefault(queue, []).append(text_of(place, client_id))
    return clients
