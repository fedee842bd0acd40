"""Every strategy keeps what it promises."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.allocation import AllocationRequest
from strategies.laws import broken_laws
from strategies.registry import STRATEGIES
from tests.strategies.drawn import requests
from tests.strategies.promises import PROMISES, options


def test_all_promise() -> None:
    """No strategy is without promises."""
    assert set(PROMISES) == set(STRATEGIES)


@pytest.mark.parametrize("name", STRATEGIES)
@given(requests(), st.data())
def test_promises(name: str, drawn: AllocationRequest, data: st.DataObject) -> None:
    """In any world, whatever the names in it, a strategy keeps its promises."""
    asked = replace(drawn, options=data.draw(options(name, drawn)))
    assert list(broken_laws(STRATEGIES[name], asked, PROMISES[name])) == []
