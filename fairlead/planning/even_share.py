"""The fewest moves that an even share asks for, whatever the group's strategy aims at."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fairlead.core.allocation import Allocation, AllocationRequest
from fairlead.core.records import GroupRecord
from fairlead.planning.forecast import forecast
from fairlead.planning.picture import Picture
from strategies.registry import STRATEGIES
from strategies.sticky_options import sticky_options
from strategies.sticky_world import sticky_world

__all__ = ["EvenShare", "even_share"]

_STICKY = "STICKY"
_OF_WEIGHTS = ("weights", "damping")


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


def even_share(picture: Picture, records: Sequence[GroupRecord]) -> EvenShare | None:
    """Return what an even share would cost after these records; None: it cannot be allocated.

    Members, subscriptions and the rules that say who may consume are those of the group. Capacities
    and the options of STICKY hold if that is the group's strategy, but no weight of a queue.
    """
    shares = _EvenShares(sticky=forecast(picture, records).rules.strategy == _STICKY)
    engine = replace(picture.engine, strategies=dict.fromkeys(picture.engine.strategies, shares))
    found = forecast(replace(picture, engine=engine), records)
    if found.failures:
        return None
    moves = len(found.moved(picture))
    exact = shares.exact and len(found.requests) <= 1
    return EvenShare(moves, exact, "queues" if shares.alike else "capacity")


@dataclass(slots=True)
class _EvenShares:
    """STICKY without weights in place of any strategy.

    ``sticky``: it is the group's own. Noted are whether its moves are the fewest (``exact``) and
    whether every member can carry as much (``alike``).
    """

    sticky: bool
    exact: bool = True
    alike: bool = True

    @property
    def name(self) -> str:
        return _STICKY

    def allocate(self, request: AllocationRequest) -> Allocation:
        asked = self._without_weights(request)
        world = sticky_world(asked, sticky_options(asked.options))
        classes = Counter(member for members in world.classes for member in members)
        # As strategies.sticky has it: exact where no member shares queues with different members.
        self.exact &= all(number == 1 for number in classes.values())
        self.alike &= len(set(world.capacity)) <= 1
        return STRATEGIES[_STICKY].allocate(asked)

    def _without_weights(self, request: AllocationRequest) -> AllocationRequest:
        if self.sticky:
            options = {
                name: value for name, value in request.options.items() if name not in _OF_WEIGHTS
            }
            return replace(request, options=options)
        alike = tuple(replace(candidate, capacity=1) for candidate in request.candidates)
        return replace(request, candidates=alike, options={})
