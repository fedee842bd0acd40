"""Every strategy keeps what it promises."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.allocation import AllocationRequest, Placement
from strategies.laws import ANY_ORDER, FREE, broken_laws
from strategies.registry import STRATEGIES
from tests.strategies.drawn import requests
from tests.strategies.promises import PROMISES, options


def test_every_strategy_makes_promises() -> None:
    """No strategy is without promises."""
    assert set(PROMISES) == set(STRATEGIES)


@pytest.mark.parametrize("name", STRATEGIES)
@given(requests(), st.data())
def test_every_strategy_keeps_its_promises(
    name: str, drawn: AllocationRequest, data: st.DataObject
) -> None:
    """In any world, whatever the names in it, a strategy keeps its promises."""
    asked = replace(drawn, options=data.draw(options(name, drawn)))
    assert list(broken_laws(STRATEGIES[name], asked, PROMISES[name])) == []


@given(requests(), st.data())
def test_sticky_keeps_its_promises_under_weights_and_rules(
    drawn: AllocationRequest, data: st.DataObject
) -> None:
    """Whatever queues weigh, and wherever operators want them, STICKY is what the engine needs."""
    queue = st.sampled_from([one for held in drawn.queues.values() for one in held])
    client = st.sampled_from([*(each.client_id for each in drawn.candidates), "absent"])
    weights = st.dictionaries(queue, st.sampled_from([0, 1, 2.5, 40]))
    placement = Placement(
        data.draw(st.dictionaries(queue, client)),
        data.draw(st.dictionaries(queue, st.lists(client, max_size=2).map(tuple))),
        data.draw(weights),
        data.draw(st.dictionaries(client, st.sampled_from([0.5, 1, 3]))),
    )
    asked = replace(drawn, weights=data.draw(weights), placement=placement)
    assert list(broken_laws(STRATEGIES["STICKY"], asked, (*FREE, ANY_ORDER))) == []
