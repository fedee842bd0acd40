"""STICKY balances over all topics of a group, with few moves from the current owners (ADR 0091).

It decides the owner of every queue that a member may own. Goals, in order: drained clients and
subscriptions; pins; bans; the queue's zone, with ``zone_first``; total balance; fewest moves; the
queue's zone, for choosing which queues a member gives away, where moving queues go, and which of
equal members has one more. A client's load is the weight of its queues / its capacity.

- Queues of equal weight: the balance is optimal, and the moves are the fewest that it allows. If
  the possible owners share no other queues this is arithmetic (strategies.sticky.quota), otherwise
  a minimum-cost flow (strategies.sticky.levels).
- Queues of different weights: no single move of a queue would gain more than the damping, and
  hardly any swap of two queues would (strategies.sticky.weights).
- After a limit of effort, counted in steps and not in time, the best result so far is the answer;
  every queue still has a permitted owner, and notes say what a greater effort might improve.
- A pin wins over a ban, but a drained client gives everything away. Of several pins of a queue, the
  first counts whose client is present, not drained, and subscribes to the topic.
- A queue that nobody may own is in no share; its topic does not fail. An answer lists only clients
  that own something. ``slots`` has no effect: a client cannot read a topic to which it does not
  subscribe.

>>> from fairlead.core.allocation import Candidate
>>> queues = tuple(MessageQueue("orders", "main", number) for number in range(4))
>>> members = tuple(Candidate(name, frozenset({"orders"})) for name in "ab")
>>> before = {queue: "a" for queue in queues}
>>> after = Sticky().allocate(AllocationRequest("g", members, {"orders": queues}, before))
>>> {name: [queue.queue_id for queue in owned] for name, owned in after.topics["orders"].items()}
{'a': [0, 1], 'b': [2, 3]}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairlead.core.allocation import Allocation, AllocationRequest
from fairlead.core.model import MessageQueue
from strategies.sticky.answer import shares_of
from strategies.sticky.effort import Effort
from strategies.sticky.levels import share_classes
from strategies.sticky.numbered_request import NOBODY, NumberedRequest, numbered_request
from strategies.sticky.options import sticky_options
from strategies.sticky.quota import share_one_class
from strategies.sticky.weights import place_uncounted, share_weighted

__all__ = ["Sticky"]


class Sticky:
    """The strategy STICKY for all topics of a group together."""

    name = "STICKY"
    takes_weights = True
    takes_rules = ("pin", "ban", "weight", "capacity")

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Refuse invalid options.

        Raises: AllocationError: ``bad_option``.
        """
        sticky_options(options)

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Share the queues of all topics; list only clients that own something.

        Raises: AllocationError: ``bad_option``.
        """
        options = sticky_options(request.options).under(request.placement)
        numbered = numbered_request(request, options)
        owner = [NOBODY] * len(numbered.queues)
        # An operator's weight of a queue wins over the measured one.
        weights = {**request.weights, **options.weights}
        effort = Effort(options.effort)
        if weights:
            _share_by_weight(_Task(numbered, owner, effort), weights, options.damping)
        else:
            _share_alike(_Task(numbered, owner, effort), numbered.class_queues)
        return Allocation(shares_of(numbered, owner), notes=effort.notes())


@dataclass(frozen=True, slots=True)
class _Task:
    """A request to share, its owners, and the remaining effort."""

    numbered: NumberedRequest
    owner: list[int]
    effort: Effort


def _share_by_weight(task: _Task, weights: Mapping[MessageQueue, float], damping: float) -> None:
    """Share the queues with a weight above 0, then those of weight 0."""
    numbered, owner = task.numbered, task.owner
    known = {
        queue: weights.get(numbered.queues[queue], 1)
        for queues in numbered.class_queues
        for queue in queues
    }
    counted = [[queue for queue in queues if known[queue]] for queues in numbered.class_queues]
    different = {weight for weight in known.values() if weight}
    if len(different) > 1:
        owner[:] = share_weighted(numbered, counted, known, damping, task.effort)
    else:
        _share_alike(task, counted)
    place_uncounted(
        numbered,
        [[queue for queue in queues if not known[queue]] for queues in numbered.class_queues],
        owner,
    )


def _share_alike(task: _Task, queues: list[list[int]]) -> None:
    """Share queues of equal weight: by arithmetic where a class has its members to itself."""
    numbered, owner = task.numbered, task.owner
    numbers = [number for number, ones in enumerate(queues) if ones]
    if len(numbers) == 1:
        share_one_class(numbered, numbers[0], queues[numbers[0]], owner)
        return
    overlapping = _overlapping(numbered, numbers)
    for number in numbers:
        if number not in overlapping:
            share_one_class(numbered, number, queues[number], owner)
    if overlapping:
        share_classes(numbered, [*overlapping], queues, owner, task.effort)


def _overlapping(numbered: NumberedRequest, numbers: list[int]) -> dict[int, None]:
    """Return the classes with a possible owner that may own queues of another class too."""
    counted, sole = set(numbers), dict[int, int | None]()
    overlapping: dict[int, None] = {}
    for number in numbers:
        # Mostly the first member shows already that the class overlaps with another one.
        for member in numbered.classes[number]:
            if numbered.narrowed or numbered.drained:
                others = [one for one in numbered.classes_of(member) if one != number]
                overlaps = not counted.isdisjoint(others)
            else:
                profile = numbered.profile[member]
                if profile not in sole:
                    sole[profile] = numbered.sole_class(profile, counted)
                overlaps = sole[profile] != number
            if overlaps:
                overlapping[number] = None
                break
    return overlapping
