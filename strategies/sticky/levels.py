"""Classes of queues that overlap: the best balance, and the fewest moves that it allows.

Decides how many queues each member gets when members subscribe differently. What is wanted is an
optimal semi-matching (Harvey, Ladner, Lovász and Tamir, Semi-Matchings for Bipartite Graphs and
Load Balancing, 2003): no chain of moves from a member to one that stays below its load even with
one queue more. By convexity this is the least sum, over all members, of the loads to which each of
its queues brings it; with equal capacities the least sum of squares, and the same sorted loads in
every optimum.

Balance: members above a threshold give to members below it until no chain is left (Fujishige,
Lexicographically Optimal Base of a Polymatroid, 1980). Then nothing can leave what the former
reach, and for whoever is outside it would be dearer to give than to keep: the two sides are apart
in every optimum. Each is taken on its own, until the highest load in a part is at most what its
lowest member would come to.

Moves: from the current owners once more, along cheapest chains to the number of queues that each
member has in that balance; that is done with the fewest moves for these numbers
(strategies.sticky.paths). In a part only who has the upper and who the lower of two neighbouring
loads is still free. While a chain between such members saves a move, it is used; when there is none
left the moves are the fewest of all assignments of that balance.
"""

from strategies.sticky.effort import BALANCE, MOVES, NODE, Effort
from strategies.sticky.holding import Holding
from strategies.sticky.paths import Network, Search
from strategies.sticky.world import World

__all__ = ["share_classes"]


def share_classes(
    world: World, numbers: list[int], queues: list[list[int]], owner: list[int], effort: Effort
) -> None:
    """Write the owners of the queues of these classes into ``owner``.

    ``queues`` holds, for every class of the world, the queues that count. When the effort is spent
    the balance, or the number of moves, is what has been reached.
    """
    level = Holding(world, numbers, queues)
    level.place_low()
    balance = _Balance(level, effort)
    balance.level()
    if effort.spent:
        effort.unfinished.append(BALANCE)
    if effort.spent or level.moves() == balance.fewest_moves():
        level.write(owner)
        return
    saving = Holding(world, numbers, queues, balance.network.part)
    saving.place_like(level)
    found = _save_moves(saving, balance, effort)
    if effort.spent:
        effort.unfinished.append(MOVES)
    (saving if found else level).write(owner)


def _save_moves(saving: Holding, balance: "_Balance", effort: Effort) -> bool:
    """Reach a balance with the fewest moves; tell whether it was reached."""
    network = Network(saving, effort, saving=True)
    network.part = balance.network.part
    for part in balance.finished:
        more = [(member, saving.count[member] - balance.holding.count[member]) for member in part]
        giving = {member: queues for member, queues in more if queues > 0}
        taking = {member: -queues for member, queues in more if queues < 0}
        while giving:
            search = Search(network, giving, taking)
            if not search.find():
                return False
            search.send()
    for part in balance.finished:
        _exchange(network, part)
    return True


def _exchange(network: Network, part: list[int]) -> None:
    """Let members on the upper of two loads change places with members on the lower one."""
    holding, potential = network.holding, network.potential
    count, capacity = holding.count, holding.world.capacity
    while not network.effort.spent:
        upper, lower = _borders(part, count, capacity)
        if not upper or max(map(potential.__getitem__, upper)) <= min(
            map(potential.__getitem__, lower)
        ):
            return
        search = Search(network, dict.fromkeys(upper, 1), dict.fromkeys(lower, 1))
        if not search.find() or not search.saves:
            return
        search.send()


def _borders(
    part: list[int], count: list[int], capacity: list[float]
) -> tuple[list[int], list[int]]:
    """Return the members of a finished part that may have one less, and those one more."""
    loads = [count[member] / capacity[member] for member in part]
    following = [(count[member] + 1) / capacity[member] for member in part]
    most = max(loads)
    if most < min(following):
        return [], []
    upper = [member for member, load in zip(part, loads, strict=True) if load == most]
    lower = [member for member, load in zip(part, following, strict=True) if load == most]
    return upper, lower


class _Balance:
    """The parts into which the members fall, and what is still to be done in them."""

    def __init__(self, holding: Holding, effort: Effort) -> None:
        self.holding = holding
        self.effort = effort
        self.network = Network(holding, effort, saving=False)
        self.finished: list[list[int]] = []
        self.parts = 0

    def level(self) -> None:
        """Level the members, part by part."""
        classes = self.holding.world.classes
        waiting = [sorted(set().union(*[classes[number] for number in self.holding.numbers]))]
        while waiting and not self.effort.spent:
            part = waiting.pop()
            self.effort.left -= NODE * len(part)
            threshold = self._threshold(part)
            if threshold is None:
                self.finished.append(part)
                continue
            giving, taking = self._sides(part, threshold)
            reached = self._push(giving, taking)
            waiting += [part] if reached is None else self._divide(part, reached)

    def _threshold(self, part: list[int]) -> float | None:
        """Return a load between the highest and the lowest in a part; None if it is level."""
        count, capacity = self.holding.count, self.holding.world.capacity
        loads = [count[member] / capacity[member] for member in part]
        following = [(count[member] + 1) / capacity[member] for member in part]
        most, least = max(loads), min(following)
        if most <= least:
            return None
        mean = sum([count[member] for member in part]) / sum([capacity[member] for member in part])
        if least <= mean < most:
            return mean
        # Some member is far from what it should have, but only in steps of a queue.
        between = [load for load in loads if least < load < most]
        between += [load for load in following if load < most]
        between.sort()
        return between[len(between) // 2]

    def _sides(self, part: list[int], threshold: float) -> tuple[dict[int, int], dict[int, int]]:
        """Return what members have above the threshold, and what they have room for below it."""
        giving, taking = {}, {}
        count, capacity = self.holding.count, self.holding.world.capacity
        for member in part:
            own = capacity[member]
            limit = int(threshold * own)
            while (limit + 1) / own <= threshold:
                limit += 1
            while limit and limit / own > threshold:
                limit -= 1
            if count[member] > limit:
                giving[member] = count[member] - limit
            elif count[member] < limit:
                taking[member] = limit - count[member]
        return giving, taking

    def _push(self, giving: dict[int, int], taking: dict[int, int]) -> set[int] | None:
        """Move queues until one side is done: None; if no chain is left return what is reached."""
        while giving and taking:
            search = Search(self.network, giving, taking)
            if not search.find():
                return None if self.effort.spent else search.reached()
            search.send()
        return None

    def _divide(self, part: list[int], reached: set[int]) -> list[list[int]]:
        """Make two parts of one: what was reached, and the others."""
        of = self.network.part
        self.parts += 2
        inside = [member for member in part if member in reached]
        outside = [member for member in part if member not in reached]
        for members, number in ((outside, self.parts - 1), (inside, self.parts)):
            for member in members:
                of[member] = number
                for node in self.holding.has[member]:
                    of[node] = number
        return [outside, inside]

    def fewest_moves(self) -> int:
        """Return a number of moves that no assignment of this balance stays below."""
        count, capacity = self.holding.count, self.holding.world.capacity
        of, first = self.network.part, self.network.first
        own = [0] * len(count)
        moves = 0
        for number in self.holding.numbers:
            for member, queues in self.holding.home[number].items():
                if of[member] == of[first + number]:
                    own[member] += queues
                else:
                    moves += queues
        for part in self.finished:
            upper, lower = _borders(part, count, capacity)
            least = {member: count[member] for member in part} | {
                member: count[member] - 1 for member in upper
            }
            moves += sum([max(0, own[member] - least[member]) for member in part])
            full = [member for member in (*upper, *lower) if own[member] > least[member]]
            moves -= min(len(upper), len(full))
        return moves
