"""Shares queues of different weights: balance by single moves and swaps, damped.

It decides owners when weights differ. The best balance is then hard to find (the problem contains
PARTITION). Queues without an owner go, heaviest first, to the member whose load stays lowest
(longest processing time first: Graham, Bounds on Multiprocessing Timing Anomalies, 1969). Then each
member, highest load first, gives the queue that lowers the greater of the two loads most, or else
swaps a queue for a lighter one of a member with little load, until nothing gains. A queue that has
an owner moves only for a gain above the damping, so that small changes of weights move nothing.
"""

from bisect import bisect_left, insort
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace

from strategies.sticky.effort import BALANCE, NODE, Effort
from strategies.sticky.numbered_request import NOBODY, NumberedRequest
from strategies.sticky.quota import deal

__all__ = ["place_uncounted", "share_weighted"]

_ROUNDING = 1e-9
"""A gain below this share of the mean load is only rounding."""

_LOST = 1e-12
"""A weight below this share of a load may vanish in rounding, so such queues could move forever."""

_SWAP_GAIN = 0.01
"""A swap that gains less than this share of the mean load is not worth the search."""

_PARTNERS = 4
"""The number of a class's members, those with the least load, with which swaps are tried."""


@dataclass(frozen=True, slots=True)
class _Move:
    """A possible move of a queue, and by how much it lowers the greater of two loads.

    ``back`` is the queue that the giver gets in return, or NOBODY.
    """

    gain: float
    queue: int
    member: int
    back: int = NOBODY


def share_weighted(
    numbered: NumberedRequest,
    queues: list[list[int]],
    weights: Mapping[int, float],
    damping: float,
    effort: Effort,
) -> list[int]:
    """Return the owner of each queue of the request; NOBODY for queues that do not count.

    ``queues`` holds the queues of each class that count, ``weights`` their weights.
    """
    balance = _Balance(numbered, queues, weights, damping, effort)
    balance.start()
    while balance.improve():
        pass
    if effort.spent:
        effort.unfinished.append(BALANCE)
    owner = [NOBODY] * len(numbered.queues)
    moving: dict[tuple[int, float], list[int]] = {}
    for queue, member in balance.holder.items():
        owner[queue] = member
        if numbered.home[queue] != member:
            moving.setdefault((balance.class_of[queue], weights[queue]), []).append(queue)
    # Queues of equal weight may change places: one that moves anyway goes home or to its zone.
    for alike in moving.values():
        alike.sort()
        deal(numbered, alike, sorted([owner[queue] for queue in alike]), owner)
    return owner


def place_uncounted(numbered: NumberedRequest, queues: list[list[int]], owner: list[int]) -> None:
    """Write the owners of queues of weight 0: a current owner keeps its queue.

    The others go to the possible owner with the fewest queues.
    """
    count = [0] * len(numbered.client_ids)
    for ones in queues:
        for queue in ones:
            owner[queue] = numbered.home[queue]
    for member in owner:
        if member != NOBODY:
            count[member] += 1
    for number, ones in enumerate(queues):
        free = [queue for queue in ones if owner[queue] == NOBODY]
        if not free:
            continue
        heap = [(count[member], member) for member in numbered.classes[number]]
        heapify(heap)
        places = []
        for _ in free:
            held, member = heap[0]
            heapreplace(heap, (held + 1, member))
            count[member] += 1
            places.append(member)
        deal(numbered, free, places, owner)


class _Balance:
    """Loads, and for each class its possible owners by load.

    A heap holds at least one entry for each possible owner that is not above its load; an entry
    below it is corrected when it comes to the top. So a rising load costs nothing, and a falling
    one costs a push. A member's queues are sorted heaviest first, so most searches end at once.
    """

    def __init__(
        self,
        numbered: NumberedRequest,
        queues: list[list[int]],
        weights: Mapping[int, float],
        damping: float,
        effort: Effort,
    ) -> None:
        self.numbered = numbered
        self.effort = effort
        self.weights = weights
        self.class_of = {queue: number for number, ones in enumerate(queues) for queue in ones}
        self.classes = [
            members if queues[number] else () for number, members in enumerate(numbered.classes)
        ]
        self.widest = [
            max((numbered.capacity[one] for one in members), default=1) for members in self.classes
        ]
        self.of_member: list[list[int]] = [[] for _ in numbered.client_ids]
        for number, members in enumerate(self.classes):
            for member in members:
                self.of_member[member].append(number)
        capacity = sum(
            one for one, numbers in zip(numbered.capacity, self.of_member, strict=True) if numbers
        )
        mean = sum(weights[queue] for queue in self.class_of) / capacity
        self.least_gain = mean * _ROUNDING
        self.least_gain_of_owned = mean * damping + self.least_gain
        self.least_gain_of_swap = mean * _SWAP_GAIN
        self.load = [0.0] * len(numbered.client_ids)
        self.total: list[float] = [0] * len(numbered.client_ids)
        self.held: list[list[tuple[float, int]]] = [[] for _ in numbered.client_ids]
        self.holder: dict[int, int] = {}
        self.heaps: list[list[tuple[float, int]]] = []

    def start(self) -> None:
        """Leave queues with their owners and place the others."""
        home = self.numbered.home
        free = []
        for queue in self.class_of:
            if home[queue] == NOBODY:
                free.append(queue)
            else:
                self._put(queue, home[queue])
        for members in self.classes:
            heap = [(self.load[member], member) for member in members]
            heapify(heap)
            self.heaps.append(heap)
        for queue in sorted(free, key=lambda one: (-self.weights[one], one)):
            target = self._target(queue, NOBODY)
            if target is not None:
                self._put(queue, target[1])

    def improve(self) -> bool:
        """Let each member, highest load first, make its best move; tell whether any moved."""
        heap = [(-load, member) for member, load in enumerate(self.load)]
        heapify(heap)
        moved = False
        while heap and not self.effort.spent:
            load, member = heappop(heap)
            if -load != self.load[member]:
                continue
            best = self._best(member) or self._best_swap(member)
            if best is None:
                continue
            moved = True
            self._take(best.queue, member)
            if best.back != NOBODY:
                self._take(best.back, best.member)
                self._put(best.back, member)
            self._put(best.queue, best.member)
            for changed in (member, best.member):
                heappush(heap, (-self.load[changed], changed))
        return moved and not self.effort.spent

    def _best(self, member: int) -> _Move | None:
        """Return the move with the largest sufficient gain; the first one if several are equal."""
        load, capacity = self.load[member], self.numbered.capacity[member]
        least_gain = max(self.least_gain, load * _LOST)
        self.effort.left -= NODE
        best: _Move | None = None
        for minus_weight, queue in self.held[member]:
            share = -minus_weight / capacity
            enough = least_gain if best is None else best.gain
            if share <= enough:
                break
            self.effort.left -= NODE
            if self.numbered.home[queue] == member:
                enough = max(enough, self.least_gain_of_owned)
                if share <= enough:
                    continue
            target = self._target(queue, member)
            if target is None:
                continue
            gain = min(share, load - target[0])
            if gain > enough:
                best = _Move(gain, queue, target[1])
        return best

    def _best_swap(self, giver: int) -> _Move | None:
        """Return the best swap with one of the members with the least load."""
        best: _Move | None = None
        if len(self.held[giver]) == 1:
            return best
        given: dict[int, list[tuple[float, int]]] = {}
        least = max(self.least_gain_of_swap, self.load[giver] * _LOST)
        for entry in self.held[giver]:
            given.setdefault(self.class_of[entry[1]], []).append(entry)
        if all(self.numbered.home[queue] == giver for _, queue in self.held[giver]):
            least = max(least, self.least_gain_of_owned)
        may_own: set[int] = set()
        for number, queues in given.items():
            enough = least if best is None else best.gain
            # A swap gains at most half of the difference, if both have equal capacities.
            width = 1 + self.numbered.capacity[giver] / self.widest[number]
            for taker in self._lightest(number, self.load[giver] - enough * width):
                may_own = may_own or set(self.of_member[giver])
                share = 1 / self.numbered.capacity[giver] + 1 / self.numbered.capacity[taker]
                ideal = (self.load[giver] - self.load[taker]) / share
                if ideal / self.numbered.capacity[giver] <= enough:
                    continue
                self.effort.left -= NODE * (1 + len(queues)) + len(self.held[taker])
                backs = [one for one in self.held[taker] if self.class_of[one[1]] in may_own]
                for minus_weight, queue in queues:
                    place = bisect_left(backs, (minus_weight + ideal,))
                    for minus_other, back in backs[max(0, place - 1) : place + 1]:
                        gain = self._gain(giver, taker, minus_other - minus_weight)
                        if gain > enough and self._is_worth(gain, (queue, giver), (back, taker)):
                            enough = gain
                            best = _Move(gain, queue, taker, back)
        return best

    def _gain(self, giver: int, taker: int, weight: float) -> float:
        """Return by how much the greater of two loads falls if this weight moves."""
        less, more = weight / self.numbered.capacity[giver], weight / self.numbered.capacity[taker]
        return min(less, self.load[giver] - self.load[taker] - more)

    def _is_worth(self, gain: float, *held: tuple[int, int]) -> bool:
        """Tell whether a gain justifies taking these queues from these members."""
        owned = any(self.numbered.home[queue] == member for queue, member in held)
        return not owned or gain > self.least_gain_of_owned

    def _lightest(self, number: int, below: float) -> list[int]:
        """Return some possible owners of a class with loads below ``below``, by load."""
        heap = self.heaps[number]
        lightest: list[tuple[float, int]] = []
        while heap and heap[0][0] < below and len(lightest) < _PARTNERS:
            load, member = heap[0]
            if load != self.load[member]:
                self._correct_top(heap)
                continue
            entry = heappop(heap)
            if not lightest or entry != lightest[-1]:
                lightest.append(entry)
        for entry in lightest:
            heappush(heap, entry)
        return [member for _, member in lightest]

    def _target(self, queue: int, giver: int) -> tuple[float, int] | None:
        """Return the member whose load would be lowest with the queue, after that load."""
        number = self.class_of[queue]
        heap, weight = self.heaps[number], self.weights[queue]
        capacity = self.numbered.capacity
        at_least = weight / self.widest[number]
        seen: list[tuple[float, int]] = []
        best: tuple[float, int] | None = None
        while heap and (best is None or heap[0][0] + at_least < best[0]):
            load, member = heap[0]
            if load != self.load[member]:
                self._correct_top(heap)
                continue
            entry = heappop(heap)
            self.effort.left -= NODE
            if seen and entry == seen[-1]:
                continue
            seen.append(entry)
            if member != giver:
                after = (load + weight / capacity[member], member)
                best = after if best is None else min(best, after)
        for entry in seen:
            heappush(heap, entry)
        return best

    def _correct_top(self, heap: list[tuple[float, int]]) -> None:
        """Correct the top entry: raise it, or drop it if a lower load has its own entry."""
        load, member = heap[0]
        if load < self.load[member]:
            heapreplace(heap, (self.load[member], member))
        else:
            heappop(heap)

    def _put(self, queue: int, member: int) -> None:
        self.holder[queue] = member
        insort(self.held[member], (-self.weights[queue], queue))
        self._weigh(member, self.weights[queue])

    def _take(self, queue: int, member: int) -> None:
        held = self.held[member]
        del held[bisect_left(held, (-self.weights[queue], queue))]
        self._weigh(member, -self.weights[queue])
        for number in self.of_member[member]:
            heappush(self.heaps[number], (self.load[member], member))

    def _weigh(self, member: int, change: float) -> None:
        # A member without queues has load 0, despite rounding.
        self.total[member] = self.total[member] + change if self.held[member] else 0
        self.load[member] = self.total[member] / self.numbered.capacity[member]
