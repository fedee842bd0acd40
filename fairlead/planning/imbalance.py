"""How unevenly something is spread over members."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fairlead.core.model import MessageQueue
from fairlead.core.rules.single_rules import placement_of
from fairlead.observed.forecast import Forecast
from strategies.sticky.options import sticky_options

__all__ = ["Scales", "Skew", "scales_of", "skew_of"]


@dataclass(frozen=True, slots=True)
class Skew:
    """The member that has most, the one that has least, and the mean; 0 where there is nobody."""

    most: float
    least: float
    mean: float

    @property
    def spread(self) -> float:
        """Most less least."""
        return self.most - self.least

    @property
    def ratio(self) -> float | None:
        """Most / mean; None where nobody has anything."""
        return self.most / self.mean if self.mean else None

    def document(self) -> dict[str, Any]:
        """The skew as JSON."""
        return {
            "most": self.most,
            "least": self.least,
            "mean": self.mean,
            "skew": self.spread,
            "ratio": self.ratio,
        }


def skew_of(numbers: Iterable[float]) -> Skew:
    """Return the skew of what members have, one number for each."""
    found = list(numbers)
    if not found:
        return Skew(0, 0, 0)
    return Skew(max(found), min(found), sum(found) / len(found))


@dataclass(frozen=True, slots=True)
class Scales:
    """What queues weigh and members can carry; 1 where nothing is said.

    ``consumers`` are the members that may own a queue: they subscribe to a topic that has queues,
    and no rule keeps them from it.
    """

    weights: Mapping[MessageQueue, float]
    capacities: Mapping[str, float]
    consumers: frozenset[str]

    def weight(self, queues: Iterable[MessageQueue]) -> float:
        """Return what these queues weigh together."""
        return sum(self.weights.get(queue, 1) for queue in queues)

    def capacity(self, client_id: str) -> float:
        """Return what a member can carry."""
        return self.capacities.get(client_id, 1)


def scales_of(found: Forecast) -> Scales:
    """Return the scales of a group: what rules and members say, also if its strategy ignores it."""
    rules, state = found.rules, found.picture.state
    given = rules.strategy_options if rules.strategy == "STICKY" else {}
    options = sticky_options(given).under(placement_of(rules.single))
    consumers = {
        one.client_id
        for request in found.requests
        for one in request.candidates
        if any(request.queues.get(topic) for topic in one.topics)
    }
    return Scales(
        weights={**state.weights, **options.weights},
        capacities={
            client_id: options.capacity.get(client_id, member.profile.capacity)
            for client_id, member in found.picture.members.items()
        },
        consumers=frozenset(consumers - options.drained),
    )
