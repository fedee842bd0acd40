"""The options of STICKY, read from what a rule says.

Decides what is a valid option and nothing else. A queue is written ``[topic, broker name, queue
id]``. A field nobody knows is an error too: a typing mistake must not pass for a setting.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fairlead.core.allocation import AllocationError, Placement
from fairlead.core.model import MessageQueue
from fairlead.core.single_rules import read_decimal
from strategies.options import QUEUE_FORM, written_queue
from strategies.sticky_effort import EFFORT

__all__ = ["StickyOptions", "sticky_options"]

DAMPING = 0.1
_CAPACITY_MIN = 1e-9
_NUMBER_MAX = 1e15
"""Beyond these bounds a load could be infinite."""
_FIELDS = (
    "bans", "broker_zones", "capacity", "damping", "drained", "effort", "pins", "queue_zones",
    "weights", "zone_first", "zones",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StickyOptions:
    """What a rule asks of STICKY.

    ``pins`` holds the clients of a queue in order of preference; ``bans`` those it never goes to;
    ``effort`` the steps (strategies.sticky_effort) after which the best found is the answer.
    """

    zones: Mapping[str, str] = field(default_factory=dict)
    broker_zones: Mapping[str, str] = field(default_factory=dict)
    queue_zones: Mapping[MessageQueue, str] = field(default_factory=dict)
    zone_first: bool = False
    weights: Mapping[MessageQueue, float] = field(default_factory=dict)
    capacity: Mapping[str, float] = field(default_factory=dict)
    damping: float = DAMPING
    pins: Mapping[MessageQueue, tuple[str, ...]] = field(default_factory=dict)
    bans: Mapping[MessageQueue, frozenset[str]] = field(default_factory=dict)
    drained: frozenset[str] = frozenset()
    effort: int = EFFORT

    def under(self, placement: Placement) -> "StickyOptions":
        """Return the options with what rules say of single queues and clients in their place."""
        return replace(
            self,
            pins={**self.pins, **{queue: (name,) for queue, name in placement.pins.items()}},
            bans={**self.bans, **{at: frozenset(ids) for at, ids in placement.bans.items()}},
            weights={**self.weights, **placement.weights},
            capacity={**self.capacity, **placement.capacities},
        )


def sticky_options(options: Mapping[str, Any]) -> StickyOptions:
    """Return the options, checked.

    Raises: AllocationError: ``bad_option``, worded "<field>: what is wrong and what is expected".
    """
    for name in options:
        if name not in _FIELDS:
            raise _bad(str(name), "unknown; expected one of " + ", ".join(_FIELDS))
    zone_first = options.get("zone_first", False)
    if not isinstance(zone_first, bool):
        raise _bad("zone_first", f"{zone_first!r} is not true or false")
    return StickyOptions(
        zones=_texts(options, "zones"),
        broker_zones=_texts(options, "broker_zones"),
        queue_zones={
            queue: _text("queue_zones", zone) for queue, zone in _pairs(options, "queue_zones")
        },
        zone_first=zone_first,
        weights={queue: _number("weights", weight) for queue, weight in _pairs(options, "weights")},
        capacity={
            client_id: _number("capacity", number, _CAPACITY_MIN)
            for client_id, number in _mapping(options, "capacity").items()
        },
        damping=_number("damping", options.get("damping", DAMPING)),
        pins={queue: tuple(clients) for queue, clients in _clients(options, "pins").items()},
        bans={queue: frozenset(clients) for queue, clients in _clients(options, "bans").items()},
        drained=frozenset(_text("drained", item) for item in _sequence(options, "drained")),
        effort=_whole("effort", options.get("effort", EFFORT)),
    )


def _bad(name: str, detail: str) -> AllocationError:
    return AllocationError("bad_option", f"{name}: {detail}")


def _mapping(options: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = options.get(name, {})
    if not isinstance(value, Mapping):
        raise _bad(name, f"{value!r} is not an object; expected client or broker names to values")
    for key in value:
        _text(name, key)
    return value


def _sequence(options: Mapping[str, Any], name: str) -> list[Any] | tuple[Any, ...]:
    value = options.get(name, [])
    if not isinstance(value, list | tuple):
        raise _bad(name, f"{value!r} is not a list")
    return value


def _texts(options: Mapping[str, Any], name: str) -> dict[str, str]:
    return {key: _text(name, value) for key, value in _mapping(options, name).items()}


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _bad(name, f"{value!r} is not a name; expected a string that is not empty")
    return value


def _number(name: str, value: Any, least: float = 0) -> float:
    # A rule holds no fractions: there they are written as text.
    if isinstance(value, str):
        decimal = read_decimal(value)
        value = value if decimal is None else decimal
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not least <= value <= _NUMBER_MAX
    ):
        expected = f"expected a number from {least:g} to {_NUMBER_MAX:g}"
        raise _bad(name, f"{value!r} is out of range; {expected}")
    return value


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _NUMBER_MAX:
        raise _bad(name, f"{value!r} is out of range; expected a whole number from 0")
    return value


def _pairs(options: Mapping[str, Any], name: str) -> Iterator[tuple[MessageQueue, Any]]:
    for item in _sequence(options, name):
        if not isinstance(item, list | tuple) or len(item) != len(("queue", "value")):
            raise _bad(name, f"{item!r} is not a pair; expected [queue, value]")
        yield _queue(name, item[0]), item[1]


def _queue(name: str, value: Any) -> MessageQueue:
    queue = written_queue(value)
    if queue is None:
        raise _bad(name, f"{value!r} is not a queue; expected {QUEUE_FORM}")
    return queue


def _clients(options: Mapping[str, Any], name: str) -> dict[MessageQueue, list[str]]:
    clients: dict[MessageQueue, list[str]] = {}
    for queue, client_id in _pairs(options, name):
        clients.setdefault(queue, []).append(_text(name, client_id))
    return clients
