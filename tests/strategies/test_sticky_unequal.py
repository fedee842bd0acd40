"""STICKY with unequal subscriptions: optimal semi-matchings, bans, pins and drained clients."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.model import MessageQueue
from tests.strategies.sticky_groups import (
    Owners,
    UnequalGroup,
    allocate,
    loads,
    moved,
    queues_of,
    unequal_groups,
)


def possible(
    world: UnequalGroup, bans: set[tuple[MessageQueue, str]]
) -> dict[MessageQueue, list[str]]:
    """Return who may own each queue that somebody may own."""
    topics, members, _ = world
    found = {
        queue: [
            name
            for name, subscribed in members.items()
            if topic in subscribed and (queue, name) not in bans
        ]
        for topic, count in topics.items()
        for queue in queues_of(topic, count)
    }
    return {queue: clients for queue, clients in found.items() if clients}


def least_cost(allowed: dict[MessageQueue, list[str]]) -> int:
    """Return the least sum of squared loads of all assignments, by trying each of them."""
    everyone = sorted({name for clients in allowed.values() for name in clients})
    return min(
        sum(choice.count(name) ** 2 for name in everyone) for choice in product(*allowed.values())
    )


def improvable(
    after: Owners, allowed: dict[MessageQueue, list[str]], capacity: dict[str, float]
) -> bool:
    """Tell whether a chain of moves leads from a member to one that stays below its load."""
    counts = dict.fromkeys(capacity, 0)
    for owner in after.values():
        counts[owner] += 1
    for giver, own in capacity.items():
        reached, waiting = {giver}, [giver]
        while waiting:
            member = waiting.pop()
            for queue, clients in allowed.items():
                if after[queue] == member:
                    waiting += [name for name in clients if name not in reached]
                    reached.update(clients)
        if any(
            (counts[name] + 1) / capacity[name] < counts[giver] / own for name in reached - {giver}
        ):
            return True
    return False


def bans_of(data: st.DataObject, world: UnequalGroup) -> set[tuple[MessageQueue, str]]:
    """Draw bans."""
    topics, members, _ = world
    queues = [queue for topic, count in topics.items() for queue in queues_of(topic, count)]
    pairs = st.tuples(st.sampled_from(queues), st.sampled_from(sorted(members)))
    return data.draw(st.sets(pairs, max_size=6))


@given(unequal_groups(), st.data())
def test_the_sum_of_squared_loads_is_the_least(world: UnequalGroup, data: st.DataObject) -> None:
    """The sum of squared loads is the least of all assignments, with bans and without."""
    topics, members, owners = world
    bans = bans_of(data, world)
    after = allocate(topics, members, owners, bans=[[list(queue), name] for queue, name in bans])
    allowed = possible(world, bans)
    assert set(after) == set(allowed)
    assert all(after[queue] in clients for queue, clients in allowed.items())
    assert sum(load**2 for load in loads(after, members)) == least_cost(allowed)


@given(unequal_groups(queues_max=30), st.data())
def test_no_chain_of_moves_improves_a_result(world: UnequalGroup, data: st.DataObject) -> None:
    """No chain of moves improves a result, with capacities and without."""
    topics, members, owners = world
    capacity: dict[str, float] = {name: data.draw(st.integers(1, 4)) for name in members}
    bans = bans_of(data, world)
    after = allocate(
        topics, members, owners, capacity=capacity, bans=[[queue, name] for queue, name in bans]
    )
    assert not improvable(after, possible(world, bans), capacity)


@given(unequal_groups(queues_max=30))
def test_a_settled_group_stays_as_it_is(world: UnequalGroup) -> None:
    """A result allocated again stays as it is."""
    topics, members, owners = world
    after = allocate(topics, members, owners)
    assert allocate(topics, members, after) == after


@given(unequal_groups(queues_max=12), st.data())
def test_the_order_of_members_changes_nothing(world: UnequalGroup, data: st.DataObject) -> None:
    """The order of members changes nothing."""
    topics, members, owners = world
    mixed = dict(data.draw(st.permutations(list(members.items()))))
    assert allocate(topics, mixed, owners) == allocate(topics, members, owners)


@given(unequal_groups(), st.data())
def test_a_pin_wins_over_a_ban(world: UnequalGroup, data: st.DataObject) -> None:
    """A pin wins over a ban, but neither over the subscription nor over drained."""
    topics, members, owners = world
    queue = queues_of("topic-0", 1)[0]
    name = data.draw(st.sampled_from([*members, "absent"]))
    drained = data.draw(st.booleans())
    after = allocate(
        topics,
        members,
        owners,
        pins=[[queue, name]],
        bans=[[queue, name]],
        drained=[name] if drained else [],
    )
    if "topic-0" in members.get(name, ()) and not drained:
        assert after[queue] == name
    else:
        assert after.get(queue) != name


@given(unequal_groups(), st.data())
def test_a_drained_client_gives_everything_away(world: UnequalGroup, data: st.DataObject) -> None:
    """A drained client gives everything away, and nothing goes to it."""
    topics, members, owners = world
    name = data.draw(st.sampled_from(sorted(members)))
    after = allocate(topics, members, owners, drained=[name])
    assert name not in after.values()


def test_the_first_pin_with_a_client_counts() -> None:
    """Of several pins of a queue the first counts whose client is there."""
    queue = queues_of("orders", 1)[0]
    members = {name: ["orders"] for name in "abc"}
    pins = [[queue, "absent"], [queue, "c"], [queue, "b"]]
    assert allocate({"orders": 1}, members, pins=pins) == {queue: "c"}


def test_chain_through_a_third() -> None:
    """A member that shares no topic with the idle one is relieved through one that shares two."""
    orders, bills = queues_of("orders", 4), queues_of("bills", 2)
    members = {"a": ["orders"], "b": ["orders", "bills"], "c": ["bills"]}
    before = dict.fromkeys(orders[:3], "a") | dict.fromkeys((orders[3], *bills), "b")
    after = allocate({"orders": 4, "bills": 2}, members, before)
    assert loads(after, members) == [2, 2, 2]
    assert moved(before, after, members) == 3


def test_a_leave_with_overlapping_topics_moves_little() -> None:
    """With overlapping subscriptions a leaver's queues move, and few others."""
    topics = {f"topic-{number}": 20 for number in range(10)}
    members = {
        f"client-{number:02}": [f"topic-{(number * step) % 10}" for step in (1, 2, 3)]
        for number in range(1, 40)
    }
    before = allocate(topics, members)
    del members["client-07"]
    after = allocate(topics, members, before)
    assert moved(before, after, members) <= 3


def test_parts_that_share_nobody() -> None:
    """Topics with members of their own are balanced each for itself, with the fewest moves."""
    members = {"a": ["orders"], "b": ["orders"], "c": ["bills"], "d": ["bills"]}
    before = allocate({"orders": 10, "bills": 4}, {"a": ["orders"], "c": ["bills"]})
    after = allocate({"orders": 10, "bills": 4}, members, before)
    assert loads(after, members) == [5, 5, 2, 2]
    assert moved(before, after, members) == 7
