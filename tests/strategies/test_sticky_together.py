"""STICKY with all of its options at once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.allocation import AllocationRequest, Candidate
from strategies.sticky.strategy import Sticky
from tests.strategies.sticky_groups import UnequalGroup, owners_of, queues_of, unequal_groups

ZONES = st.sampled_from(["east", "west"])


@st.composite
def all_options(draw: st.DrawFn, world: UnequalGroup) -> dict[str, Any]:
    """Draw every option for a world."""
    topics, members, _ = world
    queues = [list(queue) for topic, count in topics.items() for queue in queues_of(topic, count)]
    client = st.sampled_from([*members, "absent"])
    pair = st.tuples(st.sampled_from(queues), client)
    weight = st.tuples(st.sampled_from(queues), st.sampled_from([0, 1, 2.5, 7, 40]))
    return {
        "zones": draw(st.dictionaries(client, ZONES)),
        "broker_zones": draw(st.dictionaries(st.sampled_from(["broker-0", "broker-1"]), ZONES)),
        "zone_first": draw(st.booleans()),
        "weights": draw(st.lists(weight, max_size=20)),
        "capacity": draw(st.dictionaries(client, st.sampled_from([0.5, 1, 3]))),
        "pins": draw(st.lists(pair, max_size=3)),
        "bans": draw(st.lists(pair, max_size=6)),
        "drained": draw(st.lists(client, max_size=1)),
    }


@given(unequal_groups(queues_max=8), st.data())
def test_any_options_keep_the_laws(world: UnequalGroup, data: st.DataObject) -> None:
    """Whatever the options: an owner who may own it, the same for any order, and then at rest."""
    topics, members, owners = world
    options = data.draw(all_options(world))
    candidates = [Candidate(name, frozenset(subscribed)) for name, subscribed in members.items()]
    queues = {topic: queues_of(topic, count) for topic, count in topics.items()}
    request = AllocationRequest("group", tuple(candidates), queues, owners, options=options)
    allocation = Sticky().allocate(request)
    after = owners_of(request, allocation)
    bans = {(tuple(queue), name) for queue, name in options["bans"]}
    pinned = {tuple(queue) for queue, name in options["pins"]}
    for queue in (queue for held in queues.values() for queue in held):
        possible = {
            name
            for name, subscribed in members.items()
            if queue.topic in subscribed
            and name not in options["drained"]
            and (queue, name) not in bans
        }
        if queue not in pinned:
            assert (queue in after) == bool(possible)
            assert queue not in after or after[queue] in possible
    mixed = AllocationRequest(
        "group",
        tuple(data.draw(st.permutations(candidates))),
        {topic: queues[topic][::-1] for topic in reversed(queues)},
        owners,
        options=options,
    )
    assert Sticky().allocate(mixed) == allocation
    settled = AllocationRequest("group", tuple(candidates), queues, after, options=options)
    assert owners_of(settled, Sticky().allocate(settled)) == after
