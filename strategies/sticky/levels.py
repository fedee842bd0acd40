"""Shares classes of queues that overlap: the best balance, and the fewest moves that it allows.

It decides how many queues each member gets when members subscribe differently. The result is an
optimal semi-matching (Harvey, Ladner, Lovász and Tamir, Semi-Matchings for Bipartite Graphs and
Load Balancing, 2003): no chain of moves leads from a member to one whose load stays lower even with
one queue more. By convexity this minimises the sum, over all members, of the loads to which each of
its queues brings it; with equal capacities it minimises the sum of squares, and every optimum has
the same sorted loads.

Balance: members above a threshold give to members below it until no chain is left (Fujishige,
Lexicographically Optimal Base of a Polymatroid, 1980). Then no queue can leave the side that the
givers reach, and giving would cost members outside more than keeping: every optimum separates the
two sides. Each side is then balanced separately, until a part's highest load is at most the load
that its lowest member would have with one queue more.

Moves: a second run starts at the current owners and follows cheapest chains to the number of queues
that each member has in that balance. This takes the fewest moves for these numbers
(strategies.sticky.paths). Within a part it is still open which members have the upper and which the
lower of two neighbouring loads. The run uses every chain between such members that saves a move;
when none is left, the moves are the fewest of all assignments with that balance.
"""

from strategies.sticky.effort import BALANCE, MOVES, NODE, Effort
from strategies.sticky.holding import Holding
from strategies.sticky.numbered_request import NumberedRequest
from strategies.sticky.paths import Network, Search

__all__ = ["share_classes"]


def share_classes(
    numbered: NumberedRequest,
    numbers: list[int],
    queues: list[list[int]],
    owner: list[int],
    effort: Effort,
) -> None:
    """Write the owners of the queues of these classes into ``owner``.

    ``queues`` holds, for every class of the request, the queues that count. When the effort is
    spent, the balance and the moves are the best found so far.
    """
    level = Holding(numbered, numbers, queues)
    level.place_low()
    balance = _Balance(level, effort)
    balance.level()
    if effort.spent:
        effort.unfinished.append(BALANCE)
    if effort.spent or level.moves() == balance.fewest_moves():
        level.write(owner)
        return
    saving = Holding(numbered, numbers, queues, balance.network.part)
    saving.place_like(level)
    reached = _save_moves(saving, balance, effort)
    if effort.spent:
        effort.unfinished.append(MOVES)
    (saving if reached else level).write(owner)


def _save_moves(saving: Holding, balance: "_Balance", effort: Effort) -> bool:
    """Reach a balance with the fewest moves; tell whether this succeeded."""
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
    """Let members with the upper of two loads change places with members with the lower one."""
    holding, potential = network.holding, network.potential
    count, capacity = holding.count, holding.numbered.capacity
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
    """Return the members of a finished part that may have one queue less, and one more."""
    loads = [count[member] / capacity[member] for member in part]
    following = [(count[member] + 1) / capacity[member] for member in part]
    most = max(loads)
    if most < min(following):
        return [], []
    upper = [member for member, load in zip(part, loads, strict=True) if load == most]
    lower = [member for member, load in zip(part, following, strict=True) if load == most]
    return upper, lower


class _Balance:
    """The parts into which the members fall, and the parts that still need work."""

    def __init__(self, holding: Holding, effort: Effort) -> None:
        self.holding = holding
        self.effort = effort
        self.network = Network(holding, effort, saving=False)
        self.finished: list[list[int]] = []
        self.parts = 0

    def level(self) -> None:
        """Level the members, part by part."""
        classes = self.holding.numbered.classes
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
        count, capacity = self.holding.count, self.holding.numbered.capacity
        loads = [count[member] / capacity[member] for member in part]
        following = [(count[member] + 1) / capacity[member] for member in part]
        most, least = max(loads), min(following)
        if most <= least:
            return None
        mean = sum([count[member] for member in part]) / sum([capacity[member] for member in part])
        if least <= mean < most:
            return mean
        # The mean is no threshold here: use a load that occurs in between.
        between = [load for load in loads if least < load < most]
        between += [load for load in following if load < most]
        between.sort()
        return between[len(between) // 2]

    def _sides(self, part: list[int], threshold: float) -> tuple[dict[int, int], dict[int, int]]:
        """Return the members' queues above the threshold, and their room below it."""
        giving, taking = {}, {}
        count, capacity = self.holding.count, self.holding.numbered.capacity
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
        """Move queues until one side is done (None), or no chain is left (the nodes reached)."""
        while giving and taking:
            search = Search(self.network, giving, taking)
            if not search.find():
                return None if self.effort.spent else search.reached()
            search.send()
        return None

    def _divide(self, part: list[int], reached: set[int]) -> list[list[int]]:
        """Divide a part into two: the nodes reached, and the others."""
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
        """Return a lower bound of the moves of any assignment with this balance."""
        count, capacity = self.holding.count, self.holding.numbered.capacity
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
