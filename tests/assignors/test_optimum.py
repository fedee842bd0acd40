"""The plain method that others are held against is right itself: every share is tried."""

import random
from itertools import product

from fairlead_proof.bench.assignors.group import NOBODY, Group
from fairlead_proof.bench.assignors.outcome import outcome

from tests.assignors.optimum import optimum


def _small(chance: random.Random) -> Group:
    topics = [chance.randint(1, 3) for _ in range(chance.randint(1, 3))]
    wanted = [
        sorted(chance.sample(range(len(topics)), chance.randint(0, len(topics))))
        for _ in range(chance.randint(1, 4))
    ]
    owners = tuple(
        tuple(chance.choice((NOBODY, *range(len(wanted)))) for _ in range(count))
        for count in topics
    )
    return Group.unowned(topics, wanted, list(range(len(wanted)))).owned_by(owners)


def test_of_all_shares_none_is_better() -> None:
    """Of all shares of 300 small groups none has fewer squares, nor as few with fewer moves."""
    chance = random.Random(1)
    for _ in range(300):
        group = _small(chance)
        possible = [
            list(product(members or (NOBODY,), repeat=count))
            for members, count in zip(group.subscribers(), group.topics, strict=True)
        ]
        found = (outcome(group, share) for share in product(*possible))
        assert optimum(group) == min((one.squares, one.moved) for one in found)
