"""A topic that has grown and no bridge has told it: seen by a look at the cluster alone."""

from typing import Final

import pytest

from fairlead.bridges.kafka.snapshot import TopicAbsent, TopicLook, TopicSeen, TopicUnclear
from fairlead.bridges.kafka.untold_queues import untold_queues
from fairlead.core.model import Route, RouteBroker

PERM: Final = 6


def _route(queues: int, identity: str = "one") -> dict[str, Route]:
    brokers = (RouteBroker("main", PERM, queues, queues),) if queues else ()
    return {"orders": Route("orders", identity, brokers)}


def _seen(partitions: int) -> TopicSeen:
    return TopicSeen("orders", "one", (1,) * partitions, (1,) * partitions)


def test_the_untold_queues_are_counted() -> None:
    """How many queues nobody shares, and of how many."""
    found = untold_queues(_route(15), [_seen(21)])
    assert found == {"orders": "6 of its 21 queues have no owner: no bridge has published them"}


@pytest.mark.parametrize(
    "routes, look",
    [
        (_route(15), _seen(15)),
        (_route(21), _seen(15)),
        (_route(15, "another"), _seen(21)),
        (_route(0), _seen(21)),
        ({}, _seen(21)),
        (_route(15), TopicAbsent("orders")),
        (_route(15), TopicUnclear("orders", "no answer")),
    ],
)
def test_nothing_to_tell(routes: dict[str, Route], look: TopicLook) -> None:
    """Told, shrunk, another topic of the name, deleted, not seen: nobody can say it has grown."""
    assert untold_queues(routes, [look]) == {}
