"""The fewest moves that an even share asks for, whatever the group's strategy aims at."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fairlead.core.allocation import Allocation, AllocationRequest
from fairlead.core.records import GroupRecord
from fairlead.observed.forecast import applied, forecast, notes_of
from fairlead.observed.planned_group import PlannedGroup
from strategies.registry import STRATEGIES
from strategies.sticky.options import sticky_options
from strategies.sticky.world import sticky_world

__all__ = ["EvenShare", "even_share"]

_STICKY = "STICKY"
_OF_WEIGHTS = ("weights", "damping")
_OF_OWNERS = ("pin", "ban", "capacity")


@dataclass(frozen=True, slots=True)
class EvenShare:
    """What an even share over all topics of the group would cost.

    Attributes:
        moves: so many queues would change their owner.
        exact: there is no even share with fewer; else some may have fewer, but not many.
        by: ``queues``: as many for each member; ``capacity``: in proportion to capacities. What
            queues weigh is left aside: with weights nobody knows the fewest moves.
    """

    moves: int
    exact: bool
    by: str


def even_share(planned: PlannedGroup, records: Sequence[GroupRecord]) -> EvenShare | None:
    """Return what an even share would cost after these records; None: it cannot be allocated.

    Members, subscriptions and the rules that say who may own what are those of the group, as far as
    its strategy heeds them: pins, bans and capacities if it takes them, and the options of STICKY.
    """
    rules = applied(planned, records).rules
    own = planned.engine.strategies.get(rules.strategy)
    taken = tuple(rule for rule in _OF_OWNERS if rule in getattr(own, "takes_rules", ()))
    shares = _EvenShares(takes_rules=taken, sticky=rules.strategy == _STICKY)
    engine = replace(planned.engine, strategies=dict.fromkeys(planned.engine.strategies, shares))
    found = forecast(replace(planned, engine=engine), records)
    if found.failures:
        return None
    moves = len(found.moved(planned))
    # Shared in two parts, each has the fewest; together the group may have fewer.
    exact = shares.exact and len(found.requests) <= 1
    return EvenShare(moves, exact, "queues" if shares.alike else "capacity")


@dataclass(slots=True)
class _EvenShares:
    """STICKY without weights in place of any strategy.

    ``takes_rules``: those of single queues and clients that the group's own strategy takes;
    ``sticky``: it is STICKY. Noted are whether its moves are the fewest (``exact``) and whether
    every member can carry as much (``alike``).
    """

    takes_rules: tuple[str, ...]
    sticky: bool
    exact: bool = True
    alike: bool = True

    @property
    def name(self) -> str:
        return _STICKY

    def allocate(self, request: AllocationRequest) -> Allocation:
        asked = self._without_weights(request)
        world = sticky_world(asked, sticky_options(asked.options).under(asked.placement))
        self.alike &= len(set(world.capacity)) <= 1
        answer = STRATEGIES[_STICKY].allocate(asked)
        self.exact &= not notes_of(answer)
        return answer

    def _without_weights(self, request: AllocationRequest) -> AllocationRequest:
        candidates = request.candidates
        if "capacity" not in self.takes_rules:
            candidates = tuple(replace(one, capacity=1) for one in candidates)
        options = {
            name: value
            for name, value in request.options.items()
            if self.sticky and name not in _OF_WEIGHTS
        }
        return replace(request, candidates=candidates, options=options, weights={})
