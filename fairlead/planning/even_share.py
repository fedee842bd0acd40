"""The fewest moves to an even share, whatever the group's strategy aims at."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fairlead.core.allocation import Allocation, AllocationRequest
from fairlead.core.records import GroupRecord
from fairlead.observed.forecast import applied, forecast, notes_of
from fairlead.observed.planned_group import PlannedGroup
from strategies.registry import STRATEGIES
from strategies.sticky.numbered_request import numbered_request
from strategies.sticky.options import sticky_options

__all__ = ["EvenShare", "even_share"]

_STICKY = "STICKY"
_OF_WEIGHTS = ("weights", "damping")
_OF_OWNERS = ("pin", "ban", "capacity")


@dataclass(frozen=True, slots=True)
class EvenShare:
    """The cost of an even share over all topics of the group.

    Attributes:
        moves: how many queues would change their owner.
        exact: no even share has fewer moves; else some may have a few less.
        by: ``queues``: as many for each member; ``capacity``: in proportion to capacities. Weights
            do not count: with them nobody knows the fewest moves.
    """

    moves: int
    exact: bool
    by: str


def even_share(planned: PlannedGroup, records: Sequence[GroupRecord]) -> EvenShare | None:
    """Return the cost of an even share after these records; None: it cannot be allocated.

    Members, subscriptions and rules are the group's own. Of the rules that say who may own what,
    those count that its strategy heeds: pins, bans and capacities, and the options of STICKY.
    """
    rules = applied(planned, records).rules
    own = planned.engine.strategies.get(rules.strategy)
    heeded = tuple(rule for rule in _OF_OWNERS if rule in getattr(own, "takes_rules", ()))
    shares = _EvenShares(takes_rules=heeded, sticky=rules.strategy == _STICKY)
    engine = replace(planned.engine, strategies=dict.fromkeys(planned.engine.strategies, shares))
    after = forecast(replace(planned, engine=engine), records)
    if after.failures:
        return None
    moves = len(after.moved(planned))
    # Each of two separate parts has the fewest moves; together the group may need fewer.
    exact = shares.exact and len(after.requests) <= 1
    return EvenShare(moves, exact, "queues" if shares.alike else "capacity")


@dataclass(slots=True)
class _EvenShares:
    """STICKY without weights, in place of any strategy.

    ``takes_rules``: the rules of queues and clients that the group's own strategy takes.
    ``sticky``: that strategy is STICKY. ``exact``: the moves so far are the fewest. ``alike``: all
    members have the same capacity.
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
        numbered = numbered_request(asked, sticky_options(asked.options).under(asked.placement))
        self.alike &= len(set(numbered.capacity)) <= 1
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
