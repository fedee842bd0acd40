"""Classes of queues that overlap: an optimal semi-matching, reached from the current owners.

Decides who gets which class's queues when members subscribe differently. The goal is that of
Harvey, Ladner, Lovász and Tamir, Semi-Matchings for Bipartite Graphs and Load Balancing (2003): no
chain of moves from a member to one that stays below its load even with one queue more; by their
theorem the sum of squared loads is then the least possible. Members are taken by falling load. The
paths of one load are found in layers of breadth-first search, many at a time (Dinic 1970). What the
members of that load reach when no path is left is closed: nothing can leave it for a better place,
so it is never looked at again. Shortest chains first, so few queues move.
"""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from strategies.sticky_quota import deal
from strategies.sticky_world import NOBODY, World

__all__ = ["share_classes"]


def share_classes(
    world: World, numbers: list[int], queues: list[list[int]], owner: list[int]
) -> None:
    """Write the owners of the queues of these classes into ``owner``.

    ``queues`` holds, for every class of the world, the queues that count.
    """
    holding = _Holding(world)
    free = {number: holding.keep(number, queues[number]) for number in numbers}
    # The class with the fewest possible owners first: the others can still fill the gaps.
    for number in sorted(numbers, key=lambda one: (len(world.classes[one]), one)):
        holding.place(number, free[number])
    _level(holding)
    holding.write(numbers, owner)


class _Holding:
    """Who holds how many queues, and which ones of each class.

    ``next_load`` is the load of a member once it has one queue more.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        members = len(world.client_ids)
        self.count = [0] * members
        self.next_load = [1 / one for one in world.capacity]
        self.held: list[dict[int, list[int]]] = [{} for _ in range(members)]

    def keep(self, number: int, queues: list[int]) -> list[int]:
        """Leave the queues of a class with their current owners; return those without one."""
        home, held, count = self.world.home, self.held, self.count
        far: list[int] = []
        free: list[int] = []
        zoned = bool(self.world.queue_zone)
        for queue in queues:
            member = home[queue]
            if member == NOBODY:
                free.append(queue)
            elif zoned and not self.world.in_zone(queue, member):
                far.append(queue)
            else:
                held[member].setdefault(number, []).append(queue)
                count[member] += 1
        # A member gives from the end of its list: what is far goes before what is near.
        for queue in far:
            held[home[queue]].setdefault(number, []).append(queue)
            count[home[queue]] += 1
        for member in self.world.classes[number]:
            self.next_load[member] = (count[member] + 1) / self.world.capacity[member]
        return free

    def place(self, number: int, queues: list[int]) -> None:
        """Give each queue of a class to the possible owner whose load stays lowest."""
        if not queues:
            return
        count, capacity, held = self.count, self.world.capacity, self.held
        heap = [(self.next_load[member], member) for member in self.world.classes[number]]
        heapify(heap)
        for queue in queues:
            member = heappop(heap)[1]
            held[member].setdefault(number, []).append(queue)
            count[member] += 1
            load = self.next_load[member] = (count[member] + 1) / capacity[member]
            heappush(heap, (load, member))

    def load(self, member: int) -> float:
        return self.count[member] / self.world.capacity[member]

    def move(self, path: list[int], classes: list[int]) -> None:
        """Move one queue along each step of a path."""
        for place, number in enumerate(classes):
            queue = self.held[path[place]][number].pop()
            self.held[path[place + 1]].setdefault(number, []).append(queue)
        for member, change in ((path[0], -1), (path[-1], 1)):
            self.count[member] += change
            self.next_load[member] = (self.count[member] + 1) / self.world.capacity[member]

    def write(self, numbers: Iterable[int], owner: list[int]) -> None:
        """Write the owners, and let queues that move anyway go home or to their zone."""
        home = self.world.home
        moving: dict[int, list[tuple[int, int]]] = {number: [] for number in numbers}
        for member, classes in enumerate(self.held):
            for number, queues in classes.items():
                for queue in queues:
                    if home[queue] == member:
                        owner[queue] = member
                    else:
                        moving[number].append((queue, member))
        for pairs in moving.values():
            if pairs:
                queues = sorted([queue for queue, _ in pairs])
                deal(self.world, queues, sorted([member for _, member in pairs]), owner)


def _level(holding: _Holding) -> None:
    """Move queues along paths, highest load first, until no path is left."""
    heap = [(-holding.load(member), member) for member, held in enumerate(holding.held) if held]
    heapify(heap)
    closed = bytearray(len(holding.held))
    while heap:
        top = heap[0][0]
        sources = []
        while heap and heap[0][0] == top:
            member = heappop(heap)[1]
            if not closed[member] and -holding.load(member) == top:
                sources.append(member)
        sources = sorted(set(sources))
        while sources:
            layers = _Layers(holding, -top, closed)
            if not layers.search(sources):
                for member in layers.depth:
                    closed[member] = 1
                break
            waiting = []
            for source in sources:
                path = layers.path(source)
                if path is None:
                    waiting.append(source)
                    continue
                holding.move(*path)
                for member in (source, path[0][-1]):
                    heappush(heap, (-holding.load(member), member))
            sources = waiting


class _Layers:
    """One breadth-first search from all members of one load, and the paths along its layers.

    A layer of members is followed by the classes that they hold, and those by their possible
    owners. A possible owner that led nowhere is passed over for good, for every path of the search.
    """

    def __init__(self, holding: _Holding, load: float, closed: bytearray) -> None:
        self.holding = holding
        self.classes = holding.world.classes
        self.load = load
        self.closed = closed
        self.depth: dict[int, int] = {}
        self.class_depth: dict[int, int] = {}
        self.passed: dict[int, int] = {}
        self.waiting: dict[int, list[int]] = {}

    def search(self, sources: list[int]) -> bool:
        """Lay the layers up to the first that holds a member to move to; tell if there is one."""
        self.depth = dict.fromkeys(sources, 0)
        depth, found, layer = 0, False, sources
        while layer and not found:
            following = []
            for member in layer:
                for number, queues in self.holding.held[member].items():
                    if not queues or number in self.class_depth:
                        continue
                    self.class_depth[number] = depth
                    self.passed[number] = 0
                    following += self._reach(number, depth + 1)
            found = any(self.holding.next_load[member] < self.load for member in following)
            depth += 1
            layer = following
        return found

    def _reach(self, number: int, depth: int) -> list[int]:
        known, closed = self.depth, self.closed
        reached = [
            member for member in self.classes[number] if member not in known and not closed[member]
        ]
        known.update(dict.fromkeys(reached, depth))
        return reached

    def path(self, source: int) -> tuple[list[int], list[int]] | None:
        """Return the members of a path and the classes between them; None if none is left."""
        path = [source]
        via: list[int] = []
        while path:
            number = self._class_of(path[-1], len(path) - 1)
            if number is None:
                path.pop()
                if via:
                    self.passed[via.pop()] += 1
                continue
            following = self._following(number, len(path))
            if following is None:
                self.waiting[path[-1]].pop()
                continue
            via.append(number)
            path.append(following)
            if self.holding.next_load[following] < self.load:
                return path, via
        return None

    def _class_of(self, member: int, depth: int) -> int | None:
        """Return a class of the next layer from which the member can give a queue."""
        held = self.holding.held[member]
        if member not in self.waiting:
            self.waiting[member] = [
                number for number in held if self.class_depth.get(number) == depth
            ]
        waiting = self.waiting[member]
        while waiting and not held[waiting[-1]]:
            waiting.pop()
        return waiting[-1] if waiting else None

    def _following(self, number: int, depth: int) -> int | None:
        """Return the next possible owner of a class in the next layer."""
        members, place = self.classes[number], self.passed[number]
        while place < len(members) and self.depth.get(members[place]) != depth:
            place += 1
        self.passed[number] = place
        return members[place] if place < len(members) else None
