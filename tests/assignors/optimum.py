"""The most even share there is, and of those the one with the fewest moves, by a plain method.

It proves what the strategies claim, so it has nothing in common with them: queues come one after
another, and each takes the cheapest chain of queues that make room for each other (a shortest path
of a minimum-cost flow, by Bellman and Ford). The cost of a member's next queue is what it adds to
the sum of squares, and a move weighs less than the least difference of squares.
"""

from fairlead_proof.bench.assignors.group import NOBODY, Group

Cost = tuple[int, int]
"""Squares, then moves: compared in this order."""


def optimum(group: Group) -> Cost:
    """Return the least sum of squared loads, and the fewest moves of a share that has it."""
    subscribers = group.subscribers()
    queues = [
        (owners, before)
        for topic, owners in enumerate(subscribers)
        for before in group.owners[topic]
        if owners
    ]
    loads = [0] * len(group.members)
    holder: dict[int, int] = {}
    squares = moves = 0
    for queue in range(len(queues)):
        (more, moved), path = _cheapest(queues, holder, loads, queue)
        squares += more
        moves += moved
        holder |= dict(path)
        loads[path[-1][1]] += 1
    assert squares == sum(load * load for load in loads)
    return squares, moves


def _price(queue: tuple[tuple[int, ...], int], member: int) -> int:
    """What it costs in moves that a member has a queue."""
    owners, before = queue
    return int(before != NOBODY and before in owners and before != member)


def _cheapest(
    queues: list[tuple[tuple[int, ...], int]],
    holder: dict[int, int],
    loads: list[int],
    queue: int,
) -> tuple[Cost, list[tuple[int, int]]]:
    """Return the cost of placing one queue more, and who takes which queue for it."""
    reached: dict[int, int] = {}
    came: dict[int, tuple[int, int | None]] = {}
    for member in queues[queue][0]:
        reached[member] = _price(queues[queue], member)
        came[member] = (queue, None)
    held: dict[int, list[int]] = {}
    for one, member in holder.items():
        held.setdefault(member, []).append(one)
    waiting = list(reached)
    while waiting:
        giver = waiting.pop(0)
        for one in held.get(giver, ()):
            spared = _price(queues[one], giver)
            for member in queues[one][0]:
                cost = reached[giver] - spared + _price(queues[one], member)
                if member != giver and cost < reached.get(member, cost + 1):
                    reached[member] = cost
                    came[member] = (one, giver)
                    waiting.append(member)
    last = min(reached, key=lambda member: (2 * loads[member] + 1, reached[member]))
    path = []
    at: int | None = last
    while at is not None:
        one, before = came[at]
        path.append((one, at))
        at = before
    return (2 * loads[last] + 1, reached[last]), path[::-1]
