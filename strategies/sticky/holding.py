"""How many queues of each class every member holds, and finally which ones.

It decides where queues without an owner start, and which queues a member keeps. Queues of a class
are equal, so all work in between is on counts: a member that holds no more of a class than it has
now keeps only its own queues, so the counts alone tell the moves.
"""

from collections import Counter
from collections.abc import Mapping
from heapq import heapify, heappop, heappush

from strategies.sticky.numbered_request import NOBODY, NumberedRequest
from strategies.sticky.quota import deal
from strategies.sticky.zone_places import given_away

__all__ = ["Holding"]


class Holding:
    """How many queues of each class every member holds.

    ``count``: per member, its queues. ``held`` and ``home``: per class, member -> its number of
    queues in the result, and now. ``guests`` and ``missing``: per class, the members that hold
    more, or fewer, than now. ``has``, ``won`` and ``lost``: per member, the classes that it holds
    any of, more of than now, or fewer of than now. Each class is a node: its number plus
    ``first``.
    """

    def __init__(
        self,
        numbered: NumberedRequest,
        numbers: list[int],
        queues: list[list[int]],
        part: list[int] | None = None,
    ) -> None:
        """Leave every queue with its owner; put those without one into ``free``, by class.

        ``part``: the part of each node; an owner keeps no queue of another part.
        """
        self.numbered = numbered
        self.numbers = numbers
        self.queues = queues
        self.first = members = len(numbered.client_ids)
        self.count = [0] * members
        self.has, self.won, self.lost = ([_nothing() for _ in range(members)] for _ in range(3))
        self.held: list[dict[int, int]] = [{} for _ in numbered.classes]
        self.home: list[Mapping[int, int]] = [{} for _ in numbered.classes]
        self.guests = [_nothing() for _ in numbered.classes]
        self.missing = [_nothing() for _ in numbered.classes]
        self.leaving: dict[int, list[int]] = {}
        self.free = {number: self._keep(number, part) for number in numbers}

    def _keep(self, number: int, part: list[int] | None) -> int:
        counted = Counter(map(self.numbered.home.__getitem__, self.queues[number]))
        node = self.first + number
        leaving = [NOBODY]
        if part is not None:
            leaving += [one for one in counted if one != NOBODY and part[one] != part[node]]
        self.leaving[number] = leaving
        free = sum([counted.pop(member, 0) for member in leaving])
        self.home[number] = counted
        self.held[number] = dict(counted)
        for member, held in counted.items():
            self.count[member] += held
            self.has[member][node] = None
        return free

    def place_low(self) -> None:
        """Give each queue without an owner where the load stays lowest."""
        count, capacity = self.count, self.numbered.capacity
        # The class with the fewest possible owners comes first; later ones can fill the gaps.
        for number in sorted(self.numbers, key=lambda one: (len(self.numbered.classes[one]), one)):
            if not self.free[number]:
                continue
            members = self.numbered.classes[number]
            heap = [((count[member] + 1) / capacity[member], member) for member in members]
            heapify(heap)
            places: Counter[int] = Counter()
            for _ in range(self.free[number]):
                member = heappop(heap)[1]
                places[member] += 1
                load = (count[member] + places[member] + 1) / capacity[member]
                heappush(heap, (load, member))
            self._place(number, places)

    def place_like(self, other: "Holding") -> None:
        """Give each queue without an owner to a member that gets one of its class in ``other``."""
        for number in self.numbers:
            free, places = self.free[number], {}
            for member in other.guests[number]:
                more = other.held[number][member] - other.home[number].get(member, 0)
                places[member] = min(free, more)
                free -= places[member]
            self._place(number, places)

    def _place(self, number: int, places: Mapping[int, int]) -> None:
        for member, queues in places.items():
            if queues:
                self._hold(number, member, queues)

    def move(self, number: int, giver: int, taker: int, queues: int) -> None:
        """Move queues of a class from one member to another."""
        self._hold(number, giver, -queues)
        self._hold(number, taker, queues)

    def _hold(self, number: int, member: int, more: int) -> None:
        held, own, node = self.held[number], self.home[number].get(member, 0), self.first + number
        before = held.get(member, 0)
        after = before + more
        if after:
            held[member] = after
            self.has[member][node] = None
        else:
            del held[member]
            del self.has[member][node]
        for nodes, members, was, is_now in (
            (self.lost[member], self.missing[number], before < own, after < own),
            (self.won[member], self.guests[number], before > own, after > own),
        ):
            if is_now and not was:
                nodes[node] = members[member] = None
            elif was and not is_now:
                del nodes[node], members[member]
        self.count[member] += more

    def moves(self) -> int:
        """Return how many queues are not with their owners."""
        return sum(
            self.home[number][member] - self.held[number].get(member, 0)
            for number in self.numbers
            for member in self.missing[number]
        )

    def write(self, owner: list[int]) -> None:
        """Write the owners: each member keeps its own queues first, near ones before others."""
        for number in self.numbers:
            self._write(number, owner)

    def _write(self, number: int, owner: list[int]) -> None:
        home, queues = self.numbered.home, self.queues[number]
        for queue in queues:
            owner[queue] = home[queue]
        held, had = self.held[number], self.home[number]
        keeps = {member: held.get(member, 0) for member in self.missing[number]}
        keeps.update(dict.fromkeys(self.leaving[number], 0))
        changing = [queue for queue in queues if home[queue] in keeps]
        places = []
        for member in sorted(self.guests[number]):
            places += [member] * (held[member] - had.get(member, 0))
        deal(self.numbered, given_away(self.numbered, changing, keeps, places), places, owner)


def _nothing() -> dict[int, None]:
    return {}
