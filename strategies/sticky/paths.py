"""Finds the cheapest ways to move queues from members with too many to members with too few.

It decides along which chains of moves queues pass. Members and classes are the nodes of a residual
graph, with edges from a member to each class that it holds queues of, and from a class to each of
its possible owners. Each step away from a member costs 1, so the shortest chains come first. When
saving moves, taking a queue from its owner also costs a move, taking a guest costs nothing, and
bringing a queue home gains a move.

This is the primal-dual method of minimum-cost flow (Ford and Fulkerson 1957; Edmonds and Karp,
Theoretical Improvements in Algorithmic Efficiency for Network Flow Problems, 1972): potentials keep
all costs at 0 or more, a search finds the least distance, and then queues pass along all chains of
that distance at once (Dinic 1970). If no cycle gains anything before, none does afterwards: each
assignment on the way has the fewest moves of all that give every member the same number of queues.
A search starts at the side with fewer members, so that a join does not visit every member.
"""

from collections.abc import Iterable
from heapq import heappop, heappush

from strategies.sticky.effort import NODE, Effort
from strategies.sticky.holding import Holding

__all__ = ["Network", "Search"]

MOVE = 1 << 32
"""The cost of a move: more than the steps of any chain."""

_FAR = 1 << 62


class Network:
    """The residual graph, in parts that no queue leaves.

    Nodes are the members by number, then the classes. ``part`` is the part of each node. For every
    edge from u to v, cost + ``potential`` of u - ``potential`` of v is at least 0. With ``saving``
    moves have a cost.
    """

    def __init__(self, holding: Holding, effort: Effort, *, saving: bool) -> None:
        self.holding = holding
        self.effort = effort
        self.first = holding.first
        self.move = MOVE if saving else 0
        self.part = [0] * (self.first + len(holding.held))
        self.potential = [0] * len(self.part)
        self._owners = list(holding.numbered.classes)
        self._may_own: dict[int, list[int]] = {}
        self._known_for: dict[int, int] = {}

    def owners(self, node: int) -> tuple[int, ...]:
        """Return the possible owners of a class in its part."""
        part, number = self.part[node], node - self.first
        if part and self._known_for.get(node) != part:
            self._known_for[node] = part
            of = self.part
            members = [member for member in self._owners[number] if of[member] == part]
            self._owners[number] = tuple(members)
        return self._owners[number]

    def may_own(self, member: int) -> list[int]:
        """Return the classes that a member may own within its part."""
        part = self.part[member]
        if self._known_for.get(member) != part:
            self._known_for[member] = part
            if member not in self._may_own:
                numbers = self.holding.numbered.classes_of(member)
                self._may_own[member] = [self.first + number for number in numbers]
            of = self.part
            self._may_own[member] = [node for node in self._may_own[member] if of[node] == part]
        return self._may_own[member]

    def number_away(self, member: int, number: int) -> int:
        """Return how many queues of a class can be taken from a member at the same cost."""
        held, own = self.holding.held[number][member], self.holding.home[number].get(member, 0)
        return held - own if held > own else held

    def number_to(self, member: int, number: int) -> int:
        """Return how many queues of a class can be given to a member at the same cost."""
        if member not in self.holding.missing[number]:
            return _FAR
        return self.holding.home[number][member] - self.holding.held[number].get(member, 0)


class Search:
    """One search between members that give and members that take, and the chains that it finds.

    ``givers`` and ``takers``: member -> queues that it should still give or take, all of one part.
    """

    def __init__(self, network: Network, givers: dict[int, int], takers: dict[int, int]) -> None:
        self.network = network
        self.holding = network.holding
        self.givers = givers
        self.takers = takers
        self.forward = len(givers) <= len(takers)
        self.starts, self.ends = (givers, takers) if self.forward else (takers, givers)
        self.sign = 1 if self.forward else -1
        self.distance = [_FAR] * len(network.potential)
        self.least = _FAR
        self.saves = False
        self._layers: dict[int, list[int]] = {}
        self._keys: list[int] = []
        self._passed: set[int] = set()
        self._start = self._end = 0

    def find(self) -> bool:
        """Find the least distance and update the potentials; tell whether there is a chain.

        Afterwards ``saves`` tells whether a cheapest chain saves a move.
        """
        potential, sign = self.network.potential, self.sign
        pick, opposite = (max, min) if self.forward else (min, max)
        self._start = pick([potential[member] for member in self.starts])
        self._end = opposite([potential[member] for member in self.ends])
        self._spread()
        if self.least == _FAR:
            return False
        for key, nodes in self._layers.items():
            if key < self.least:
                for node in nodes:
                    if self.distance[node] == key:
                        potential[node] -= sign * (self.least - key)
        self._start -= sign * self.least
        self.saves = sign * (self._end - self._start) < 0
        return True

    def reached(self) -> set[int]:
        """Return the nodes that the givers' queues can reach, or from which takers can be reached.

        When no chain is left, no queue can pass between these nodes and the others.
        """
        return {node for nodes in self._layers.values() for node in nodes}

    def _spread(self) -> None:
        """Set the distances from the starts, up to the nearest end."""
        distance, potential, sign = self.distance, self.network.potential, self.sign
        first, ends, effort = self.network.first, self.ends, self.network.effort
        for member in self.starts:
            self._set([member], sign * self._start)
        while self._keys and effort.left >= 0:
            key = heappop(self._keys)
            if key > self.least:
                return
            # Steps of cost 0 lead into the same layer.
            for node in self._layers[key]:
                effort.left -= NODE
                if distance[node] < key:
                    continue
                if node in ends:
                    self.least = min(self.least, key + sign * (potential[node] - self._end))
                if node >= first:
                    self._set_owners(node, key + sign * potential[node])
                # Once the least distance is known, only the owners of classes matter.
                elif key < self.least:
                    self._passed.add(node)
                    self._set_classes(node, key + sign * potential[node])
        if effort.spent:
            self.least = _FAR

    def _set_classes(self, member: int, base: int) -> None:
        """Set the distance of the classes that are nearer through a member."""
        holding, distance, potential = self.holding, self.distance, self.network.potential
        move, effort = self.network.move, self.network.effort
        if self.forward:
            has = holding.has[member]
            effort.left -= len(has)
            far = base + move + 1
            self._set([node for node in has if distance[node] > far - potential[node]], far)
            self._set(holding.won[member], base + 1)
            return
        nodes = self.network.may_own(member)
        effort.left -= len(nodes)
        self._set([node for node in nodes if distance[node] > base + potential[node]], base)
        if holding.lost[member]:
            part, here = self.network.part, self.network.part[member]
            home = [node for node in holding.lost[member] if part[node] == here]
            self._set(home, base - move)

    def _set_owners(self, node: int, base: int) -> None:
        """Set the distance of the members that are nearer through a class."""
        holding, distance, potential = self.holding, self.distance, self.network.potential
        move, effort, number = self.network.move, self.network.effort, node - self.network.first
        if self.forward:
            owners = self.network.owners(node)
            effort.left -= len(owners)
            self._set([one for one in owners if distance[one] > base - potential[one]], base)
            if holding.missing[number]:
                part, here = self.network.part, self.network.part[node]
                home = [one for one in holding.missing[number] if part[one] == here]
                self._set(home, base - move)
            return
        held = holding.held[number]
        effort.left -= len(held)
        far = base + move + 1
        self._set([one for one in held if distance[one] > far + potential[one]], far)
        self._set(holding.guests[number], base + 1)

    def _set(self, nodes: Iterable[int], base: int) -> None:
        """Set the distance of nodes that are nearer than known."""
        distance, potential, sign = self.distance, self.network.potential, self.sign
        for node in nodes:
            far = base - sign * potential[node]
            if far < distance[node]:
                distance[node] = far
                layer = self._layers.get(far)
                if layer is None:
                    self._layers[far] = [node]
                    heappush(self._keys, far)
                else:
                    layer.append(node)

    def send(self) -> None:
        """Move queues along chains of the least distance until there is none left."""
        waiting: dict[int, list[int]] = {}
        for start in list(self.starts):
            if self.network.potential[start] != self._start:
                continue
            while start in self.starts:
                chain = self._chain(start, waiting)
                if chain is None:
                    break
                self._pass(chain if self.forward else chain[::-1])

    def _chain(self, start: int, waiting: dict[int, list[int]]) -> list[int] | None:
        """Return the nodes of a chain from a start to an end; None if none is left.

        ``waiting``: for each visited node, the next nodes that are not ruled out.
        """
        potential, first, ends = self.network.potential, self.network.first, self.ends
        chain = [start]
        while chain:
            node = chain[-1]
            self.network.effort.left -= NODE
            if node in ends and potential[node] == self._end:
                return chain
            if node not in waiting:
                waiting[node] = self._owners_of(node) if node >= first else self._classes_of(node)
            options = waiting[node]
            while options and not self._is_open(node, options[-1]):
                options.pop()
            if options:
                chain.append(options[-1])
                continue
            chain.pop()
            if chain:
                waiting[chain[-1]].pop()
        return None

    def _classes_of(self, member: int) -> list[int]:
        """Return the classes to which a chain may continue from a member."""
        holding, potential, move = self.holding, self.network.potential, self.network.move
        here = potential[member]
        if self.forward:
            has, won = holding.has[member], holding.won[member]
            classes = [node for node in has if potential[node] == here + move + 1]
            classes += [node for node in won if potential[node] == here + 1] if move else []
            self.network.effort.left -= len(has)
        else:
            nodes, lost = self.network.may_own(member), holding.lost[member]
            classes = [node for node in nodes if potential[node] == here]
            classes += [node for node in lost if potential[node] == here + move] if move else []
            self.network.effort.left -= len(nodes)
        return [node for node in classes if self.distance[node] <= self.least]

    def _owners_of(self, node: int) -> list[int]:
        """Return the members to which a chain may continue from a class."""
        holding, potential, move = self.holding, self.network.potential, self.network.move
        here, number = potential[node], node - self.network.first
        if self.forward:
            owners, missing = self.network.owners(node), holding.missing[number]
            members = [one for one in owners if potential[one] == here]
            members += [one for one in missing if potential[one] == here - move] if move else []
            self.network.effort.left -= len(owners)
        else:
            held, guests = holding.held[number], holding.guests[number]
            members = [one for one in held if potential[one] == here - move - 1]
            members += [one for one in guests if potential[one] == here - 1] if move else []
            self.network.effort.left -= len(held)
        passed, ends = self._passed, self.ends
        return [one for one in members if one in passed or one in ends]

    def _is_open(self, node: int, following: int) -> bool:
        """Tell whether a step is still part of a cheapest chain."""
        first, potential, move = self.network.first, self.network.potential, self.network.move
        giver, taker = (node, following) if self.forward else (following, node)
        if giver < first:
            if taker not in self.holding.has[giver]:
                return False
            cost = 1 if taker in self.holding.won[giver] else move + 1
        else:
            cost = -move if giver in self.holding.lost[taker] else 0
        return cost + potential[giver] == potential[taker]

    def _pass(self, chain: list[int]) -> None:
        """Move as many queues along a chain as have the same cost; it begins at a giver."""
        first, network = self.network.first, self.network
        giver, taker = chain[0], chain[-1]
        steps = [
            (chain[place], chain[place + 1] - first, chain[place + 2])
            for place in range(0, len(chain) - 2, 2)
        ]
        limits = [min(self.givers[giver], self.takers[taker])]
        for member, number, following in steps:
            limits.append(network.number_away(member, number))
            limits.append(network.number_to(following, number))
        queues = min(limits)
        for member, number, following in steps:
            self.holding.move(number, member, following, queues)
        for numbers, member in ((self.givers, giver), (self.takers, taker)):
            numbers[member] -= queues
            if not numbers[member]:
                del numbers[member]
