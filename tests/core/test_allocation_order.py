"""The order in which members, brokers and topics come to the engine decides nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.model import MessageQueue, Route, RouteBroker
from fairlead.core.records import RouteChanged
from strategies.registry import STRATEGIES
from tests.kit.group_world import GroupWorld

CLIENTS = ("east-a", "west-b", "\uffee-c", "\U0001f600-d", "east-\U0001f600")
TOPICS = ("orders", "bills", "\ue000", "\U0001f600")
BROKERS = ("east@-1", "west@-2", "\U0001f600@-3")
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "CONFIG": {"queues": [["bills", "west@-2", 1]]},
    "MACHINE_ROOM": {"rooms": ["east", "\U0001f600"]},
}


def _targets(
    name: str, clients: Sequence[str], topics: Sequence[str], brokers: Sequence[str]
) -> Mapping[MessageQueue, str]:
    """Return who shall own what once all have come, in this order."""
    world = GroupWorld()
    world.rule("strategy", {"name": name, "options": OPTIONS.get(name, {})})
    for client in clients:
        world.beat(client, topics=topics if name != "CONFIG" or client == CLIENTS[0] else ())
    world.run()
    for topic in topics:
        route = Route(topic, "one", tuple(RouteBroker(each, 6, 2, 2) for each in brokers))
        world.add("routes", RouteChanged(topic, route))
    world.run()
    assert world.state is not None
    assert world.state.failures == {}
    return world.state.targets


@pytest.mark.parametrize("name", STRATEGIES)
@given(st.permutations(CLIENTS), st.permutations(TOPICS), st.permutations(BROKERS))
def test_the_order_of_arrival_does_not_change_the_owners(
    name: str, clients: Sequence[str], topics: Sequence[str], brokers: Sequence[str]
) -> None:
    """Whoever heartbeats first, and however a route lists its brokers: the owners are the same."""
    straight = _targets(name, CLIENTS, TOPICS, BROKERS)
    assert straight
    assert _targets(name, clients, topics, brokers) == straight
