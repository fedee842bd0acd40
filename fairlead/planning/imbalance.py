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
    """The largest and the smallest share of a member, and the mean; 0 without members."""

    most: float
    least: float
    mean: float

    @property
    def spread(self) -> float:
        """Difference between the fullest and the emptiest member."""
        return self.most - self.least

    @property
    def ratio(self) -> float | None:
        """Largest share / mean; None: nobody has anything."""
        return self.most / self.mean if self.mean else None

    def to_json(self) -> dict[str, Any]:
        """Return JSON values."""
        return {
            "most": self.most,
            "least": self.least,
            "mean": self.mean,
            "skew": self.spread,
            "ratio": self.ratio,
        }


def skew_of(numbers: Iterable[float]) -> Skew:
    """Return the skew of the members' shares, one number for each."""
    shares = list(numbers)
    if not shares:
        return Skew(0, 0, 0)
    return Skew(max(shares), min(shares), sum(shares) / len(shares))


@dataclass(frozen=True, slots=True)
class Scales:
    """The weights of queues and the capacities of members; 1 if nothing else is known.

    ``consumers``: the members that may own a queue. They subscribe to a topic that has queues, and
    no rule keeps them from it.
    """

    weights: Mapping[MessageQueue, float]
    capacities: Mapping[str, float]
    consumers: frozenset[str]

    def weight(self, queues: Iterable[MessageQueue]) -> float:
        """Return the total weight of these queues."""
        return sum(self.weights.get(queue, 1) for queue in queues)

    def capacity(self, client_id: str) -> float:
        """Return the capacity of a member."""
        return self.capacities.get(client_id, 1)


def scales_of(outcome: Forecast) -> Scales:
    """Return the scales that rules and members set, even if the group's strategy ignores them."""
    rules, state = outcome.rules, outcome.planned.state
    given = rules.strategy_options if rules.strategy == "STICKY" else {}
    options = sticky_options(given).under(placement_of(rules.single))
    consumers = {
        one.client_id
        for request in outcome.requests
        for one in request.candidates
        if any(request.queues.get(topic) for topic in one.topics)
    }
    return Scales(
        weights={**state.weights, **options.weights},
        capacities={
            client_id: options.capacity.get(client_id, member.profile.capacity)
            for client_id, member in outcome.planned.members.items()
        },
        consumers=frozenset(consumers - options.drained),
    )
