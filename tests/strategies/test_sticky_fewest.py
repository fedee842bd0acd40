"""STICKY with overlapping subscriptions: of the best balance, the fewest moves."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

import pytest

from fairlead.core.model import MessageQueue
from tests.strategies.sticky_groups import Owners, allocate, moved, names, queues_of

SEEDS = range(20)
WORLDS = 100


@dataclass(frozen=True, slots=True)
class Drawn:
    """A group: topics with their numbers of queues, subscriptions, capacities, bans and owners."""

    topics: Mapping[str, int]
    members: Mapping[str, list[str]]
    capacity: Mapping[str, int]
    bans: frozenset[tuple[MessageQueue, str]] = frozenset()
    owners: Owners = field(default_factory=dict)

    def allocated(self, owners: Owners) -> Owners:
        """Allocate it from these owners."""
        bans = [[list(queue), name] for queue, name in sorted(self.bans)]
        return allocate(self.topics, self.members, owners, capacity=dict(self.capacity), bans=bans)

    def possible(self) -> dict[MessageQueue, list[str]]:
        """Return who may own each queue that somebody may own."""
        found = {
            queue: [
                name
                for name, subscribed in self.members.items()
                if topic in subscribed and (queue, name) not in self.bans
            ]
            for topic, count in self.topics.items()
            for queue in queues_of(topic, count)
        }
        return {queue: possible for queue, possible in found.items() if possible}

    def cost(self, owners: Owners) -> Fraction:
        """Return the sum of the loads to which each queue brings its owner."""
        return self.cost_of(Counter(owners.values()))

    def cost_of(self, counts: Mapping[str, int]) -> Fraction:
        """Return the same for numbers of queues."""
        return sum(
            (
                Fraction(counts[name] * (counts[name] + 1), 2 * own)
                for name, own in self.capacity.items()
            ),
            Fraction(),
        )


def drawn(chance: Random, members: int = 8, queues: int = 8) -> Drawn:
    """Draw a group of up to so many members and queues; some members have capacities or bans."""
    topics: Counter[str] = Counter()
    for _ in range(chance.randint(1, queues)):
        topics[f"topic-{chance.randint(0, 4)}"] += 1
    share = chance.choice((0.3, 0.5, 0.7, 0.9))
    subscribed = {
        name: [topic for topic in sorted(topics) if chance.random() < share]
        for name in names(chance.randint(2, members))
    }
    kind = chance.choice(("plain", "capacities", "bans"))
    capacity = {name: chance.randint(1, 4) if kind == "capacities" else 1 for name in subscribed}
    bans = {
        (queue, name)
        for topic, count in topics.items()
        for queue in queues_of(topic, count)
        for name in subscribed
        if kind == "bans" and chance.random() < 0.2
    }
    group = Drawn(dict(sorted(topics.items())), subscribed, capacity, frozenset(bans))
    greed = chance.choice((0.0, 0.7))
    free = chance.choice((0.0, 0.0, 0.4))
    owners = {
        queue: possible[0] if chance.random() < greed else chance.choice(possible)
        for queue, possible in group.possible().items()
        if chance.random() >= free
    }
    return Drawn(group.topics, subscribed, capacity, group.bans, owners)


def best(group: Drawn) -> tuple[Fraction, int]:
    """Return the least cost, and the fewest moves for it, by way of all numbers of queues.

    Queue by queue, every combination of numbers that can come about is kept, with the fewest moves
    by which it does: nothing is left out.
    """
    everyone = list(group.members)
    fewest = {(0,) * len(everyone): 0}
    for queue, possible in group.possible().items():
        following: dict[tuple[int, ...], int] = {}
        for counts, moves in fewest.items():
            for name in possible:
                place = everyone.index(name)
                more = (*counts[:place], counts[place] + 1, *counts[place + 1 :])
                after = moves + (group.owners.get(queue, name) != name)
                following[more] = min(after, following.get(more, after))
        fewest = following
    return min(
        (group.cost_of(dict(zip(everyone, counts, strict=True))), moves)
        for counts, moves in fewest.items()
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_balance_and_moves_are_the_best_of_all(seed: int) -> None:
    """Balance and moves are the best of all assignments, and a result is at rest."""
    chance = Random(seed)
    for number in range(WORLDS):
        group = drawn(chance)
        after = group.allocated(group.owners)
        found = group.cost(after), moved(group.owners, after, group.members)
        assert found == best(group), (seed, number, group)
        assert group.allocated(after) == after


def saves_a_move(group: Drawn, after: Owners) -> bool:
    """Tell whether a circle of moves leads to the same balance with fewer moves (Bellman-Ford).

    Nodes are members, queues, and one more through which a member passes on a place of its load.
    """
    counts = Counter(after.values())
    tops = [Fraction(counts[name], own) for name, own in group.capacity.items()]
    steps: list[tuple[object, object, int]] = []
    for queue, possible in group.possible().items():
        home = group.owners.get(queue)
        steps.append((after[queue], queue, int(after[queue] == home)))
        steps += [(queue, name, -int(name == home)) for name in possible if name != after[queue]]
    for top in set(tops):
        for name, own in group.capacity.items():
            if Fraction(counts[name], own) == top:
                steps.append((("load", top), name, 0))
            if Fraction(counts[name] + 1, own) == top:
                steps.append((name, ("load", top), 0))
    nodes = {node for step in steps for node in step[:2]}
    distance: dict[object, int] = dict.fromkeys(nodes, 0)
    for _ in range(len(nodes) + 1):
        changed = False
        for giver, taker, cost in steps:
            if distance[giver] + cost < distance[taker]:
                distance[taker] = distance[giver] + cost
                changed = True
        if not changed:
            return False
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_no_circle_saves_a_move(seed: int) -> None:
    """Also in greater groups, from any owners, no circle of moves saves one."""
    group = drawn(Random(1_000 + seed), members=30, queues=120)
    assert not saves_a_move(group, group.allocated(group.owners))


def test_a_circle_that_saves_moves() -> None:
    """Three members that hold each other's queues could all have their own again."""
    topics = {"topic-0": 3}
    members = {name: ["topic-0"] for name in names(3)}
    queues = queues_of("topic-0", 3)
    owners = dict(zip(queues, names(3), strict=True))
    group = Drawn(topics, members, dict.fromkeys(members, 1), owners=owners)
    assert not saves_a_move(group, owners)
    assert saves_a_move(group, dict(zip(queues, (*names(3)[1:], names(3)[0]), strict=True)))
