"""What is called the least possible is the least possible, by trying everything."""

from collections import Counter
from itertools import product
from random import Random
from typing import Any

import pytest

from fairlead.core.model import MessageQueue
from fairlead.observed.planned_group import PlannedGroup
from fairlead.planning.even_share import EvenShare, even_share
from fairlead.planning.group_file import read_group

MEMBERS = ("a", "b", "c")
TOPICS = {"orders": {"main": 4}, "bills": {"main": 2}}


def group_of(chance: Random) -> PlannedGroup:
    """Return a small group: subscriptions, owners, pins and bans by chance."""
    alike = chance.random() < 0.5
    everything = sorted(TOPICS)
    members: list[dict[str, Any]] = [
        {"client_id": name, "topics": everything if alike else chance.sample(everything, 1)}
        for name in MEMBERS[: chance.randint(2, 3)]
    ]
    readers = {topic: [m["client_id"] for m in members if topic in m["topics"]] for topic in TOPICS}
    owned: dict[str, list[Any]] = {}
    rules = []
    for topic, brokers in TOPICS.items():
        for number in range(brokers["main"]):
            queue = [topic, "main", number]
            if readers[topic] and chance.random() < 0.8:
                owned.setdefault(chance.choice(readers[topic]), []).append(queue)
            if chance.random() < 0.1:
                value = {"queue": queue, "client_id": chance.choice(MEMBERS)}
                rules.append({"rule": "pin", "value": value})
            if chance.random() < 0.1:
                value = {"queue": queue, "client_ids": [chance.choice(MEMBERS)]}
                rules.append({"rule": "ban", "value": value})
    strategy = chance.choice(("AVG", "STICKY"))
    group = {"strategy": strategy, "members": members, "topics": TOPICS, "owned": owned}
    return read_group({**group, "rules": rules})


def possible_owners(group: PlannedGroup, queue: MessageQueue) -> list[str]:
    """Return who may own a queue: STICKY heeds pins and bans, AVG does not."""
    readers = sorted(name for name, one in group.members.items() if queue.topic in one.topics)
    if group.rules.strategy != "STICKY":
        return readers
    place = "/".join(map(str, queue))
    pin = group.rules.single.get("pin", {}).get(place)
    if pin is not None and pin["client_id"] in readers:
        return [pin["client_id"]]
    banned = group.rules.single.get("ban", {}).get(place, {"client_ids": ()})["client_ids"]
    return [name for name in readers if name not in banned]


def least_moves(group: PlannedGroup) -> int:
    """Return the fewest moves to an even share: the least sum of squares, by trying all."""
    before = group.owners
    queues = [queue for queue in group.queues if possible_owners(group, queue)]
    lost = sum(queue not in queues for queue in before)
    tried = []
    for owners in product(*(possible_owners(group, queue) for queue in queues)):
        loads = Counter(owners).values()
        moves = sum(
            before.get(queue, who) != who for queue, who in zip(queues, owners, strict=True)
        )
        tried.append((sum(load * load for load in loads), moves))
    return min(tried)[1] + lost


@pytest.mark.parametrize("seed", range(150))
def test_an_even_share_is_the_least(seed: int) -> None:
    """It is the least, whatever members subscribe and whoever is pinned or banned."""
    group = group_of(Random(seed))
    found = even_share(group, ())
    assert isinstance(found, EvenShare)
    assert found.exact
    assert found.moves == least_moves(group)
