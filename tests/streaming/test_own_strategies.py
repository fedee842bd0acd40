"""A user's own strategies, loaded by name; and all of them travel to the workers."""

import pickle

import pytest

from fairlead.core.allocation import Allocation, AllocationRequest, Candidate
from fairlead.core.model import MessageQueue
from fairlead.errors import UsageError
from strategies.own_strategies import all_strategies
from strategies.registry import STRATEGIES


class FirstCome:
    """Everything goes to the first member."""

    name = "FIRST_COME"

    def allocate(self, request: AllocationRequest) -> Allocation:
        """Give each topic to the first member."""
        first = request.candidates[0].client_id
        return Allocation({topic: {first: queues} for topic, queues in request.queues.items()})


class Taken(FirstCome):
    """Has a name of the product's."""

    name = "AVG"


class Hopeful(FirstCome):
    """Takes a rule that there is not."""

    takes_rules = ("pin", "pins")


class NoStrategy:
    """Has nothing of a strategy."""


class Nameless(FirstCome):
    """Has an empty name."""

    name = ""


class Demanding(FirstCome):
    """Cannot be made without an argument."""

    def __init__(self, rack: str) -> None:
        self.rack = rack


def test_a_named_class_is_a_strategy() -> None:
    """A class that is named stands beside the product's strategies."""
    found = all_strategies([f"{__name__}:FirstCome"])
    assert set(found) == {*STRATEGIES, "FIRST_COME"}


@pytest.mark.parametrize(
    "text, said",
    [
        ("no.such.module:Class", "cannot be loaded"),
        (f"{__name__}:Missing", "cannot be loaded"),
        (f"{__name__}:NoStrategy", "is not a strategy"),
        (f"{__name__}:Hopeful", "lists the unknown rule 'pins'"),
        (f"{__name__}:Taken", "'AVG', which another strategy has"),
        (f"{__name__}:Nameless", "is not a strategy"),
        (f"{__name__}:Demanding", "cannot be loaded .*'rack'"),
    ],
)
def test_what_is_no_strategy_is_refused_with_its_key(text: str, said: str) -> None:
    """The error for what cannot be a strategy has its key and text."""
    with pytest.raises(UsageError, match=said) as refused:
        all_strategies([text])
    assert f"engine.strategies: {text}" in str(refused.value)


def test_a_name_used_twice_is_refused() -> None:
    """The name of an own strategy is not free for the next one either."""
    with pytest.raises(UsageError, match="'FIRST_COME', which another strategy has"):
        all_strategies([f"{__name__}:FirstCome"] * 2)


def test_every_strategy_travels_to_a_worker() -> None:
    """Every strategy answers the same after the way to a worker."""
    queues = tuple(MessageQueue("orders", "room-a", number) for number in range(5))
    candidates = tuple(
        Candidate(client_id, frozenset({"orders"})) for client_id in ("room-1", "room-2")
    )
    request = AllocationRequest("g", candidates, {"orders": queues})
    travelled = pickle.loads(pickle.dumps(dict(STRATEGIES)))  # noqa: S301 - our own, as Spark does
    for name, strategy in travelled.items():
        assert strategy.allocate(request) == STRATEGIES[name].allocate(request)
